import { readSync } from "node:fs";
import type { Writable } from "node:stream";
import { EXIT_CODES, usageFailure } from "./failure.ts";
import { plainLine } from "./output/plain-text.ts";

/** The program's surroundings, except files and the network. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  env: NodeJS.ProcessEnv;
  outIsTerminal: boolean;
  errIsTerminal: boolean;
  /** How many lines the terminal has now. */
  outRows(): number;
  /** How wide the terminal is. Undefined if standard output is not one. */
  outColumns(): number | undefined;
  /** Nobody reads standard output any more, so a command that only prints may end. */
  outIsClosed(): boolean;
  /** Reads all of standard input. */
  readInput(): string;
  nowMs(): number;
  /**
   * Aborted by Ctrl-C and SIGTERM, for commands that are meant to be ended so; otherwise these end the process as usual. Also aborted once
   * `outIsClosed`.
   */
  interruption(): AbortSignal;
  /** Takes the same two signals, and nothing else, until they are released. */
  takeSignals(): TakenSignals;
}

export interface TakenSignals {
  signal: AbortSignal;
  /** Lets the signals end the process as usual again. */
  release(): void;
}

export function processIo(): Io {
  const err = untilClosed(process.stderr, failAtEnd);
  const out = untilClosed(process.stdout, (error) => {
    err.write(plainLine(`error: standard output cannot be written: ${error.message}`));
    failAtEnd();
  });
  return {
    out: out.write,
    err: err.write,
    env: process.env,
    outIsTerminal: process.stdout.isTTY === true,
    errIsTerminal: process.stderr.isTTY === true,
    outRows: () => process.stdout.rows || 24, // a pseudo-terminal may say 0
    outColumns: () => process.stdout.columns || undefined,
    outIsClosed: () => out.closed.aborted,
    readInput: () => readToEnd(0),
    nowMs: () => Date.now(),
    interruption: () => AbortSignal.any([takeSignals().signal, out.closed]),
    takeSignals,
  };
}

const LOOK_AGAIN_MS = 20;

/** Standard input may be non-blocking, as in a script that a Node program began. Then it says EAGAIN while nothing has come yet. */
export function readToEnd(fd: number): string {
  const pieces: Buffer[] = [];
  const all = (): string => Buffer.concat(pieces).toString("utf8");
  for (;;) {
    const piece = Buffer.allocUnsafe(65_536);
    try {
      const length = readSync(fd, piece);
      if (length === 0) return all();
      pieces.push(piece.subarray(0, length));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EOF") return all(); // Windows says this at the end of a pipe
      if (code !== "EAGAIN") throw usageFailure(`standard input cannot be read: ${(error as Error).message}`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_AGAIN_MS);
    }
  }
}

/** The command fails in any case, as its output did not arrive. */
function failAtEnd(): void {
  process.once("exit", (code) => {
    if (code === EXIT_CODES.ok) process.exitCode = EXIT_CODES.failed;
  });
}

/**
 * `unacked get observers | head` closes our output, which is no failure: nobody reads any more. Changes are still finished, as in `unacked
 * apply -f . | head`. A closed terminal is treated alike: `unacked dev` then stops in order. A full disk (ENOSPC) makes the command
 * `failed`, but finishes its changes, too.
 */
export function untilClosed(
  stream: Writable & { isTTY?: boolean },
  failed: (error: Error) => void,
): { write: (text: string) => void; closed: AbortSignal } {
  const closing = new AbortController();
  stream.on("error", (error: NodeJS.ErrnoException) => {
    const isFirst = !closing.signal.aborted;
    const hasNoReader = error.code === "EPIPE" || (error.code === "EIO" && stream.isTTY === true);
    closing.abort();
    if (isFirst && !hasNoReader) failed(error);
  });
  return { write: (text) => void (closing.signal.aborted || stream.write(text)), closed: closing.signal };
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

function takeSignals(): TakenSignals {
  const controller = new AbortController();
  const abort = () => controller.abort();
  for (const signal of SIGNALS) process.once(signal, abort);
  return {
    signal: controller.signal,
    release: () => {
      for (const signal of SIGNALS) process.off(signal, abort);
    },
  };
}
