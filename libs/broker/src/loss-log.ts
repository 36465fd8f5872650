import type { BrokerLog } from "./broker-settings.ts";
import type { LossReason } from "./loss-reason.ts";

/** For how many causes the time of their last line is kept: no broker has so many. */
const MOST_CAUSES = 100;
/** A cause that goes on is logged at least this often. */
const MINUTE_MS = 60_000;

/** Tells in the log why one connection is lost, or cannot be had, however often that comes again. */
export class LossLog {
  readonly #connection: string;
  readonly #log: BrokerLog;
  /** The causes that were logged since it was up, and when last. In a cluster each node has a cause of its own. */
  readonly #told = new Map<string, number>();

  constructor(connection: string, log: BrokerLog) {
    this.#connection = connection;
    this.#log = log;
  }

  /** It is up: whatever comes next is news. */
  startOver(): void {
    this.#told.clear();
  }

  /**
   * Logs a repeated cause the 1st, 2nd, 4th, 8th … time, and each minute: a broker that is away for a day must not fill the disk, and
   * the last line about it must not name a cause that is over.
   * @param failures how many attempts in a row have come to nothing, with this one
   */
  tell(reason: LossReason, failures: number, fields: object, message: string): void {
    const isPowerOfTwo = (failures & (failures - 1)) === 0;
    const nowMs = performance.now();
    const toldAtMs = this.#told.get(reason.detail) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - toldAtMs < MINUTE_MS && !isPowerOfTwo) return;
    if (this.#told.size >= MOST_CAUSES) this.#told.clear();
    this.#told.set(reason.detail, nowMs);
    const level = reason.kind === "ended-by-owner" ? "info" : reason.remedy === undefined ? "warn" : "error";
    this.#log[level]({ connection: this.#connection, ...fields, ...reason, failures }, message);
  }
}
