import type { ObserverId, ObserverView, StateMessage } from "@unacked/contracts";
import type { Books, InventoryParts } from "../domain/books.ts";
import type { SignOfLife } from "../domain/sign-of-life.ts";
import type { DeedDone } from "./audit.ts";
import type { NewError } from "./error-book.ts";
import type { ObserverFilter, ObserverRef } from "./manager-api.ts";

/** The books as a flow sees them: rows are loaded locked, decided upon in memory, and written by a few statements. */
export interface BooksStore {
  /** Commits when `work` resolves, rolls back when it rejects. */
  inTransaction<T>(work: (tx: BooksTransaction) => Promise<T>): Promise<T>;
  /** Writes a sign of life by itself. @returns false where more follows from it: then nothing is written */
  noteSignOfLife(sign: SignOfLife): Promise<boolean>;
  /** In id order, which is that of locks. */
  findMatching(filter: ObserverFilter): Promise<ObserverId[]>;
}

export interface BooksTransaction {
  /** Loads and locks every row that these messages can touch. */
  loadFor(messages: StateMessage[], inventories: InventoryParts): Promise<Books>;
  /**
   * Loads and locks observers with their current runs. By name: the one that is not Deleted, else the last that was.
   * `ids` are in the order of the refs; undefined where there is none.
   */
  loadObservers(refs: ObserverRef[]): Promise<{ books: Books; ids: (ObserverId | undefined)[] }>;
  /** Loads and locks, with their current runs, those of these observers that match. */
  loadMatching(ids: ObserverId[], filter: ObserverFilter): Promise<Books>;
  /** Loads and locks those observers whose rows still bear the given mark (see ReconcilerStore.sight). */
  loadUnchanged(ids: ObserverId[], marks: ReadonlyMap<string, string>): Promise<Books>;
  write(books: Books): Promise<void>;
  recordErrors(errors: NewError[]): Promise<void>;
  /** An entry of the errors, and whom it is about. */
  findError(id: string): Promise<{ observerId: ObserverId | null } | undefined>;
  /** @returns false when there is none */
  deleteError(id: string): Promise<boolean>;
  /** Adds to the audit trail. */
  recordDeeds(done: DeedDone[]): Promise<void>;
  /** Runs `work` so that its failure undoes only its own writes. */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Inserts those whose id and name are free (the indexes decide, not a look-up) with their start commands.
   * @returns the observers that are there now because of this
   */
  insertObservers(observers: NewObserver[]): Promise<Map<ObserverId, ObserverView>>;
  /** One decision about a pool's workers at a time: held until the transaction ends. Taken before any row lock. */
  lockPool(pool: string): Promise<void>;
  /** Workers of living services that do not drain, less observers that take or await one. */
  freeWorkers(pool: string): Promise<number>;
  /** Those of these names that an observer has which is not Deleted: a hint, as only the insert decides. */
  namesTaken(names: string[]): Promise<Set<string>>;
  /** As this transaction leaves them. */
  viewObservers(ids: ObserverId[]): Promise<Map<ObserverId, ObserverView>>;
}

/** An observer about to be: already validated. */
export interface NewObserver {
  id: ObserverId;
  name: string;
  type: string;
  params: unknown;
  labels: Record<string, string>;
  pool: string;
  retry: unknown;
  /** Only of one that is recorded again: 1 and now otherwise. */
  revision?: number;
  createdAt?: string;
  /** The trace of the call that it came with; its start carries it on. */
  traceContext?: string | undefined;
}

/** PostgreSQL will never take this value (SQLSTATE class 22 or 23: a NUL in a text, say): trying again is of no use. */
export class RefusedByDatabase extends Error {
  readonly code = "refused-by-database";
}
