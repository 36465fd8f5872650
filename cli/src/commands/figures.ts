import { MAX_RUN_FIGURE_MINUTES, type QueryOf, type RunFigures } from "@unacked/contracts";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Io } from "../io.ts";
import { type FigureRow, figureListing } from "../output/figure-listing.ts";
import { ListPrinter } from "../output/list-printer.ts";
import { openSession, type Session } from "../session.ts";
import { type OutputOptions, outputOption } from "./option-sets.ts";

interface FigureOptions extends OutputOptions {
  minutes: number;
  by: "minute" | "type" | "service";
  type?: string;
  service?: string;
}

export function addFigures(program: Command, io: Io): void {
  program
    .command("figures")
    .summary("starts, failures, interruptions and emits by the minute")
    .description(
      "What observers did, minute by minute, for up to a day: starts, failures, interruptions (runs that ended through no fault of their own) and emits. Minutes in which nothing happened are left out.",
    )
    .option("--minutes <count>", "how many of the last minutes, up to a day", toMinutes, 60)
    .addOption(new Option("--by <what>", "a row for each of").choices(["minute", "type", "service"]).default("minute"))
    .option("--type <type>", "only of this observer type")
    .option("--service <service>", "only on this service, by name or id")
    .addOption(outputOption())
    .action((options: FigureOptions, self: Command) => tell(openSession(io, self), options));
}

async function tell({ api, io, print }: Session, { minutes, by, type, service, output }: FigureOptions): Promise<void> {
  const query = { minutes, type, service } as QueryOf<"getRunFigures">;
  const figures = await api.call("getRunFigures", { query });
  const printer = new ListPrinter(figureListing(by.toUpperCase()), print(output));
  io.out(printer.rows(rowsOf(figures, by)) + printer.end());
  if (printer.count === 0 && (output === "table" || output === "wide")) io.err("Nothing happened in this time.\n");
}

function rowsOf({ items, byType, byService }: RunFigures, by: FigureOptions["by"]): FigureRow[] {
  switch (by) {
    case "minute":
      return items.map(({ at, ...counts }) => ({ of: at, ...counts }));
    case "type":
      return byType.map(({ type, ...counts }) => ({ of: type, ...counts }));
    case "service":
      return byService.map(({ service, ...counts }) => ({ of: service.name ?? service.id, ...counts }));
    default:
      return by satisfies never;
  }
}

function toMinutes(text: string): number {
  const minutes = Number(text);
  if (!/^\d{1,4}$/.test(text) || minutes < 1 || minutes > MAX_RUN_FIGURE_MINUTES)
    throw new InvalidArgumentError(`A count from 1 to ${MAX_RUN_FIGURE_MINUTES} is needed.`);
  return minutes;
}
