import type { TimelineEntry } from "@unacked/contracts";
import { type Command, InvalidArgumentError } from "commander";
import type { Io } from "../io.ts";
import { ListPrinter } from "../output/list-printer.ts";
import { TIMELINE_LISTING } from "../output/timeline-listing.ts";
import { openSession, type Session } from "../session.ts";
import { type OutputOptions, outputOption } from "./option-sets.ts";

interface TimelineOptions extends OutputOptions {
  limit: number;
}

export function addTimeline(program: Command, io: Io): void {
  program
    .command("timeline")
    .summary("what happened to an observer")
    .description(
      "What happened to an observer, newest first: created, started where, moved why, changed by whom, silent, failed with its text, interrupted by whose fault.",
    )
    .argument("<name>", "the observer, by name or id")
    .option("--limit <count>", "the newest so many", toCount, 50)
    .addOption(outputOption())
    .action((name: string, options: TimelineOptions, self: Command) => tell(openSession(io, self), name, options));
}

async function tell({ api, io, print }: Session, name: string, { limit, output }: TimelineOptions): Promise<void> {
  const entries: TimelineEntry[] = await api.timeline(name, limit);
  const printer = new ListPrinter(TIMELINE_LISTING, print(output));
  io.out(printer.rows(entries) + printer.end());
}

function toCount(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError("A count from 1 to 99999 is needed.");
  return Number(text);
}
