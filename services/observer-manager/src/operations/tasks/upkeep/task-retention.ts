import type { Log } from "../../log.ts";
import { Loop } from "../../loop.ts";
import type { RequestStore } from "../../requests/request-store.ts";
import { type Act, tryEach } from "../../try-each.ts";
import type { TaskFigureStore } from "../figures/task-figure-store.ts";
import type { TaskLedgerStore } from "../ledger/task-ledger-store.ts";

export interface TaskDays {
  /** Makes the partitions of the days to come, where they are missing. */
  makeAhead(): Promise<void>;
  /** Drops the partitions of days that ended longer ago. @returns their names */
  dropOlderThan(ageMs: number): Promise<string[]>;
}

const AT_ONCE = 2_000;
const EVERY_MS = 3_600_000;
/**
 * No task can end on a day without a partition. A week ahead is not enough for who is woken after two (the clocks of timers stand still
 * while a machine sleeps), nor where the database's clock is set.
 */
const DAYS_EVERY_MS = 60_000;
const FAILED_PAUSE_MS = 10_000;

export interface TaskRetentionParts {
  days: TaskDays;
  /** What was answered over AMQP is remembered for as long. */
  requests: Pick<RequestStore, "forget">;
  figures: Pick<TaskFigureStore, "forgetOld">;
  services: Pick<TaskLedgerStore, "forgetGone">;
  retentionMs: number;
  log: Log;
}

/**
 * Keeps a partition ready for each day of the week to come, and drops those that are older than the retention: an ended task costs no
 * statement of its own to be forgotten. Figures, and services that are gone, have ages of their own. A crash in the middle leaves a partition that is being detached, or is so, for the next time.
 */
export class TaskRetention {
  readonly #parts: TaskRetentionParts;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  #sweepDueMs = 0;

  constructor(parts: TaskRetentionParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #round(): Promise<number> {
    const areDaysThere = await this.#tryEach([["days to come", () => this.#parts.days.makeAhead()]]);
    const isSwept = performance.now() < this.#sweepDueMs || (await this.#sweep());
    return areDaysThere && isSwept ? DAYS_EVERY_MS : FAILED_PAUSE_MS;
  }

  /** @returns whether all that is old is gone; if not, it is due still */
  async #sweep(): Promise<boolean> {
    const { figures, requests, services, retentionMs } = this.#parts;
    const isSwept = await this.#tryEach([
      ["figures", () => this.#forget(() => figures.forgetOld(AT_ONCE))],
      ["days", () => this.#dropOldDays()],
      ["requests", () => this.#forget(() => requests.forget(retentionMs, AT_ONCE))],
      ["services", () => this.#forget(() => services.forgetGone(AT_ONCE))],
    ]);
    if (isSwept) this.#sweepDueMs = performance.now() + EVERY_MS;
    return isSwept;
  }

  async #dropOldDays(): Promise<void> {
    const { days, retentionMs, log } = this.#parts;
    const dropped = await days.dropOlderThan(retentionMs);
    if (dropped.length > 0) log.info({ event: "task-retention", dropped }, "days of ended tasks were dropped");
  }

  async #forget(forgetSome: () => Promise<number>): Promise<void> {
    for (let gone = AT_ONCE; gone === AT_ONCE && !this.#loop.isStopped; ) gone = await forgetSome();
  }

  /** Nobody is told once it is stopped, as with a round (loop.ts): the database may be closed. */
  #tryEach(acts: Act[]): Promise<boolean> {
    const isStopped = () => this.#loop.isStopped;
    return tryEach(acts, { isStopped, failed: (error, kind) => isStopped() || this.#failed(error, kind) });
  }

  #failed(error: unknown, kind?: string): number {
    this.#parts.log.warn(
      { event: "task-retention-failed", kind, err: error },
      "days of ended tasks could not be made, or what is old removed; it is tried again",
    );
    return FAILED_PAUSE_MS;
  }
}
