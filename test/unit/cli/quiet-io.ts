import type { Io } from "../../../cli/src/io.ts";

/** Of a command in this process: no terminal, nothing to read, nobody who interrupts; what it says goes nowhere. */
export const QUIET_IO: Io = {
  out: () => undefined,
  err: () => undefined,
  env: {},
  outIsTerminal: false,
  errIsTerminal: false,
  outRows: () => 24,
  outColumns: () => undefined,
  outIsClosed: () => false,
  readInput: () => "",
  nowMs: () => 0,
  interruption: () => AbortSignal.abort(),
  takeSignals: () => ({ signal: new AbortController().signal, release: () => undefined }),
};
