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
    .summary("let a service take no more work; what runs on it goes on")
    .description(
      "Let a service take no more work; what runs on it goes on. This lasts as long as its process: a new process takes work again.",
    )
    .argument("<service>", "name or id")
    .addOption(resultOption())
    .action(async (service: string, options: { output: ResultFormat }, self: Command) => {
      const session = openSession(io, self);
      tell(session, await session.api.call("cordonService", { path: { service } }), "is cordoned", options);
    });
}

export function addUncordon(program: Command, io: Io): void {
  program
    .command("uncordon")
    .summary("let a service take work again, after a cordon or a drain")
    .description(
      "Let a service take work again, after a cordon or a drain. What it has given back stays where it is; unacked rebalance moves its share to it.",
    )
    .argument("<service>", "name or id")
    .addOption(resultOption())
    .action(async (service: string, options: { output: ResultFormat }, self: Command) => {
      const session = openSession(io, self);
      tell(session, await session.api.call("uncordonService", { path: { service } }), "takes work again", options);
    });
}

function tell({ io, print }: Session, service: ServiceView, done: string, { output }: { output: ResultFormat }): void {
  if (output === "lines") io.out(plainLine(`service ${service.name} ${done}`));
  else io.out(printOne(SERVICE_LISTING, service, print(output)));
}
