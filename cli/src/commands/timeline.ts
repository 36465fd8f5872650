import type { AnswerOf, TimelineEntry } from "@unacked/contracts";
import { type Command, InvalidArgumentError } from "commander";
import type { UnackedApi } from "../client/api.ts";
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
    .summary("show what happened to an observer")
    .description(
      "Show what happened to an observer, newest first: when it was created, where it started, why it moved, who changed it, when it was silent, how it failed, what interrupted it.",
    )
    .argument("<name>", "the observer, by name or id")
    .option("--limit <count>", "how many of the newest", toCount, 50)
    .addOption(outputOption())
    .action((name: string, options: TimelineOptions, self: Command) => tell(openSession(io, self), name, options));
}

async function tell({ api, io, print }: Session, name: string, { limit, output }: TimelineOptions): Promise<void> {
  const printer = new ListPrinter(TIMELINE_LISTING, print(output));
  io.out(printer.rows(await newest(api, name, limit)) + printer.end());
}

/** Reads the newest `count` entries, in as many calls as it takes. */
async function newest(api: UnackedApi, ref: string, count: number): Promise<TimelineEntry[]> {
  const found: TimelineEntry[] = [];
  for (let cursor: string | null | undefined; found.length < count && cursor !== null; ) {
    const query = { limit: Math.min(1_000, count - found.length), ...(cursor !== undefined && { cursor }) };
    const page: AnswerOf<"getTimeline"> = await api.call("getTimeline", { path: { ref }, query });
    found.push(...page.items);
    cursor = page.nextCursor;
  }
  return found;
}

function toCount(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError("It is a number from 1 to 99999.");
  return Number(text);
}
