import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { CliFailure } from "../failure.ts";
import { parseTimeout } from "../input/duration.ts";
import type { Io } from "../io.ts";
import { overviewText } from "../output/overview.ts";
import { textWidth } from "../output/text-width.ts";
import { failureText } from "../report.ts";
import { openSession, type Session } from "../session.ts";

interface TopOptions {
  once?: boolean;
  interval: string;
}

export function addTop(program: Command, io: Io): void {
  program
    .command("top")
    .summary("show an overview: warnings, counts, workers, services, task types")
    .description(
      "Show what is wrong, how many observers have which status, how full the services are, and what runs and waits of each task type. On a terminal it is redrawn until Ctrl-C.",
    )
    .option("--once", "show it once; always so if standard output is not a terminal")
    .option("--interval <duration>", "how often it is redrawn", "2s")
    .action((options: TopOptions, self: Command) => top(openSession(io, self), options));
}

async function top(session: Session, options: TopOptions): Promise<void> {
  const intervalMs = Math.max(200, parseTimeout(options.interval));
  const { io } = session;
  if (options.once === true || !io.outIsTerminal) return io.out(await overview(session));
  const interruption = io.interruption();
  for (let look = overview; ; look = overviewOrWhyNot) {
    const text = await look(session, interruption).catch(unlessLeaving(interruption));
    if (text !== undefined) {
      // Draws over the picture before, line by line, and clears what is below: nothing flickers.
      const time = new Date(io.nowMs()).toTimeString().slice(0, 8);
      const screen = { rows: io.outRows(), columns: io.outColumns() };
      const lines = fitting([`${time}  ${session.api.url}`, "", ...text.trimEnd().split("\n")], screen);
      io.out(`\u001b[H${lines.join("\u001b[K\n")}\u001b[J`);
      await sleep(intervalMs, undefined, { signal: interruption }).catch(() => undefined); // Ctrl-C is handled below
    }
    if (interruption.aborted) return io.out("\n");
  }
}

/** After Ctrl-C a failed call does not matter. */
const unlessLeaving =
  (interruption: AbortSignal) =>
  (error: unknown): undefined => {
    if (!interruption.aborted) throw error;
  };

async function overview({ api, io, paint }: Session, signal?: AbortSignal): Promise<string> {
  const [stats, { items: services }, figures] = await Promise.all([
    api.call("getStats", {}, { signal }),
    api.call("listServices", {}, { signal }),
    api.call("listTaskFigures", {}, { signal }),
  ]);
  return overviewText({ stats, services, figures }, { paint, nowMs: io.nowMs() });
}

/** A manager that is away for a while does not end the watching. */
async function overviewOrWhyNot(session: Session, signal?: AbortSignal): Promise<string> {
  try {
    return await overview(session, signal);
  } catch (error) {
    if (error instanceof CliFailure && error.exitKind === "unreachable") return failureText(error);
    throw error;
  }
}

/** Fits lines, which may wrap, to the screen. More would scroll, and the next picture would be drawn below this one. */
export function fitting(lines: string[], { rows, columns = 80 }: { rows: number; columns?: number | undefined }): string[] {
  const rowsOf = (line: string): number => Math.max(1, Math.ceil(textWidth(line.replaceAll(COLOUR, "")) / columns));
  let taken = 0;
  const ends = lines.map((line) => (taken += rowsOf(line)));
  if (taken <= rows) return lines;
  const shown = ends.filter((end) => end < rows).length; // the last row says how much is left out
  return [...lines.slice(0, shown), `… and ${lines.length - shown} more lines`];
}

/** The colour codes that `painted` writes. */
const COLOUR = /\u001b\[\d+m/g;
