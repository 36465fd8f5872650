import type { ErrorReason, OccurrenceStatusName, TASK_OVER_STATUSES } from "@unacked/contracts";
import type { Command } from "../domain/books/command.ts";
import type { Happening } from "../domain/books/happening.ts";
import type { RequestOutcome } from "./requests/request.ts";
import type { FiringOutcome } from "./timers/timer-store.ts";

/** Told what was done, so that somebody may count it. It must not throw, and nothing depends on it. */
export interface Tally {
  /** A transaction of the ledger has committed. */
  applied(done: AppliedBatches): void;
  /** One command of this kind was given to the broker. */
  sent(kind: Command["kind"], outcome: "sent" | "gone" | "failed" | "held-up"): void;
  /** Messages were put aside. */
  putAside(reasons: readonly ErrorReason[]): void;
}

/** The same for tasks. */
export interface TaskTally {
  /** Counts ends that this manager has written. */
  ended(status: (typeof TASK_OVER_STATUSES)[number], count: number): void;
  /** Who had so many taken has neither ended nor extended them. */
  leasesOver(count: number): void;
}

/** The same for requests over AMQP. */
export interface RequestTally {
  /** @param user undefined: one that the setting does not name. @param isTold false: no queue took the answer */
  answered(user: string | undefined, outcome: RequestOutcome, isTold: boolean): void;
  /** One was decided that asked for so many. */
  decided(user: string, accepted: number, refused: number): void;
}

/** The same for timers. */
export interface TimerTally {
  /** One was published, or was to be. @param lateMs how long it had been due by then */
  tried(outcome: FiringOutcome, lateMs: number): void;
  expired(count: number): void;
}

/** The same for schedules. */
export interface ScheduleTally {
  /** @param lateMs how much later than it was due; undefined: somebody asked for it, or nobody was there in time */
  decided(status: OccurrenceStatusName, lateMs: number | undefined): void;
}

export interface AppliedBatches {
  messages: number;
  /** The time from the begin of the transaction to its commit. */
  tookMs: number;
  /** The age of the oldest event by its service's clock, at the commit; null without events. */
  oldestEventMs: number | null;
  happened: readonly Happening[];
}
