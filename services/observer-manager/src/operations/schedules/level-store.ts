import type { ObserverId, ScheduledObservers } from "@unacked/contracts";
import type { Level } from "../../domain/schedules/level.ts";
import type { BooksTransaction } from "../books/books-store.ts";
import type { Decided, ScheduleDecision, ScheduleState } from "./schedule-store.ts";

/** One schedule of observers, locked, and what is done about it; all in one transaction. */
export interface LevelTransaction {
  books: BooksTransaction;
  /** Those that were not yet brought to what has been wanted since then; the first of them. */
  notBrought(observers: ScheduledObservers, sinceMs: number, limit: number): Promise<ObserverId[]>;
  /** Notes that they are brought to it: what somebody does to them holds until the next change. */
  brought(ids: ObserverId[], sinceMs: number): Promise<void>;
  /** Writes what is wanted, with the rows of what has passed. */
  write(level: Level, decision: ScheduleDecision): Promise<Decided>;
  /** Adds to the row of the change. */
  count(sinceMs: number, changed: number): Promise<void>;
}

export interface LevelStore {
  /** Locks one that is due for a look, if there is one; where the work throws, it is put off. @returns whether there was */
  look(work: (state: ScheduleState, nowMs: number, tx: LevelTransaction) => Promise<void>): Promise<boolean>;
  /** The time until the next is due for a look, 0 or less: one is; null: none will be. */
  nextLookInMs(): Promise<number | null>;
}
