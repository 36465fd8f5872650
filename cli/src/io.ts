import { readFileSync } from "node:fs";

/** All that this program touches of its surroundings beside files and the network. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  env: NodeJS.ProcessEnv;
  outIsTerminal: boolean;
  errIsTerminal: boolean;
  /** How many lines the terminal shows now. */
  outRows(): number;
  /** How wide the terminal is; undefined where standard output is none. */
  outColumns(): number | undefined;
  /** All of standard input. */
  readInput(): string;
  nowMs(): number;
  /** Aborted by Ctrl-C and SIGTERM, for what is meant to be ended like this; otherwise these end the process as usual. */
  interruption(): AbortSignal;
}

export function processIo(): Io {
  // `unacked get observers | head` closes our output: nobody reads any more, and that is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    env: process.env,
    outIsTerminal: process.stdout.isTTY === true,
    errIsTerminal: process.stderr.isTTY === true,
    outRows: () => process.stdout.rows || 24, // a pseudo-terminal may say 0
    outColumns: () => process.stdout.columns || undefined,
    readInput: () => readFileSync(0, "utf8"),
    nowMs: () => Date.now(),
    interruption: abortedBySignals,
  };
}

function abortedBySignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}
