import type { ObserverLog } from "@unacked/sdk";
import type { GuardedCommand } from "./guarded-command.ts";
import { readLines } from "./read-lines.ts";

const maxLineLength = 16_384;
/** What an error quotes of stderr: the last lines, cut to a length that is still good to read. */
const tailLines = 10;
const tailLineLength = 500;
/** A command that complains faster waits: a flood costs its own command time, and not the process that it shares with others. */
const stderrPace = { lines: 200, everyMs: 100 };

/** Logs what a command writes to stderr. Resolves when that is over, with the last lines. */
export async function readComplaints({ stderr }: GuardedCommand, log: ObserverLog, until: AbortSignal): Promise<string[]> {
  const tail: string[] = [];
  const onComplaint = ({ line }: { line: string }): void => {
    log.warn(line, { from: "stderr" });
    tail.push(printable(line.slice(0, tailLineLength)));
    if (tail.length > tailLines) tail.shift();
  };
  await readLines(stderr, maxLineLength, onComplaint, { pace: { ...stderrPace, until } });
  return tail;
}

/** An error's text ends up in databases and terminals; control characters have no business there. */
export function printable(line: string): string {
  return line.replaceAll(/\p{Cc}/gu, "\u{FFFD}");
}
