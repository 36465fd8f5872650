import type { ServiceView } from "@unacked/contracts";
import type { Command } from "commander";
import type { Io } from "../io.ts";
import { printOne } from "../output/list-printer.ts";
import { plainLine } from "../output/plain-text.ts";
import { SERVICE_LISTING } from "../output/service-listing.ts";
import { openSession, type Session } from "../session.ts";
import { type ResultFormat, resultOption } from "./option-sets.ts";

export function addCordon(program: Command, io: Io): void {
  program
    .command("cordon")
    .summary("let a service take nothing more, and run on what it runs")
    .description(
      "Let a service take no more work; what runs on it goes on. For as long as its process lives: a new process takes work again.",
    )
    .argument("<service>", "name or id")
    .addOption(resultOption())
    .action((name: string, options: { output: ResultFormat }, self: Command) =>
      order(openSession(io, self), options.output, "is cordoned", (session) => session.api.cordonService(name)),
    );
}

export function addUncordon(program: Command, io: Io): void {
  program
    .command("uncordon")
    .summary("let a service take work again, after a cordon or a drain")
    .description(
      "Let a service take work again, after a cordon or a drain. What it has given back stays where it is: unacked rebalance brings it its share.",
    )
    .argument("<service>", "name or id")
    .addOption(resultOption())
    .action((name: string, options: { output: ResultFormat }, self: Command) =>
      order(openSession(io, self), options.output, "takes work again", (session) => session.api.uncordonService(name)),
    );
}

async function order(
  session: Session,
  output: ResultFormat,
  done: string,
  send: (session: Session) => Promise<ServiceView>,
): Promise<void> {
  const service = await send(session);
  if (output === "lines") session.io.out(plainLine(`service ${service.name} ${done}`));
  else session.io.out(printOne(SERVICE_LISTING, service, session.print(output)));
}
