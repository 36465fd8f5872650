import { UUID } from "../domain/errors/error-group.ts";
import type { Log } from "./log.ts";

/** What goes on failing is told at least so often. What has not failed for so long fails anew. */
const MINUTE_MS = 60_000;
/** At most so many different failures are known, the last ones: errors that name a row all differ. */
const MOST_KNOWN = 1_000;

type Tell = (fields: object, message: string) => void;

interface Repeated {
  readonly since: string;
  failures: number;
  lastAtMs: number;
  toldAtMs: number;
}

/**
 * A log for what is tried again and again: a failure that repeats is told the 1st, 2nd, 4th, 8th … time, and each minute, with how
 * often it was since when. A database that is away for a day is asked by a dozen loops each second, which must not fill the disk.
 * It is the same while the sentence, what it is about (all words beside it) and the error are, whatever is told in between; an id in
 * the error's text makes no difference: each publish that fails names its message.
 */
export class ThinnedLog implements Log {
  readonly #log: Log;
  /** Failures by all that makes them the same; the one that failed last comes last. */
  readonly #known = new Map<string, Repeated>();

  constructor(log: Log) {
    this.#log = log;
  }

  debug(fields: object, message: string): void {
    this.#log.debug(fields, message);
  }

  info(fields: object, message: string): void {
    this.#log.info(fields, message);
  }

  warn(fields: object, message: string): void {
    this.#thin(fields, message, (...line) => this.#log.warn(...line));
  }

  error(fields: object, message: string): void {
    this.#thin(fields, message, (...line) => this.#log.error(...line));
  }

  #thin(fields: object, message: string, tell: Tell): void {
    if (!("err" in fields || "error" in fields)) return tell(fields, message);
    const nowMs = performance.now();
    const repeated = this.#count(keyOf(fields, message), nowMs);
    const { failures, since, toldAtMs } = repeated;
    const isPowerOfTwo = (failures & (failures - 1)) === 0;
    if (!isPowerOfTwo && nowMs - toldAtMs < MINUTE_MS) return;
    repeated.toldAtMs = nowMs;
    tell(failures === 1 ? fields : { ...fields, failures, since }, message);
  }

  #count(key: string, nowMs: number): Repeated {
    const before = this.#known.get(key);
    const isOver = before === undefined || nowMs - before.lastAtMs >= MINUTE_MS;
    const repeated = isOver ? { since: new Date().toISOString(), failures: 0, lastAtMs: 0, toldAtMs: nowMs } : before;
    repeated.failures += 1;
    repeated.lastAtMs = nowMs;
    this.#known.delete(key);
    this.#known.set(key, repeated);
    const [oldest = ""] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN) this.#known.delete(oldest);
    return repeated;
  }
}

/** An error of the database may also be told by its fields, without the values in it (`error` names it): these are words. */
const keyOf = (fields: object & { err?: unknown }, message: string): string => {
  const words = Object.entries(fields).filter(([, value]) => typeof value === "string");
  return JSON.stringify([message, words, errorWords(fields.err)]);
};

function errorWords(error: unknown): unknown[] {
  if (!(error instanceof Error)) return [String(error)];
  return [error.name, error.message.replaceAll(UUID, ""), "code" in error ? String(error.code) : ""];
}
