import type {
  CheckpointView,
  ErrorReason,
  ErrorReport,
  MessageId,
  ObserverFilter,
  ObserverId,
  ObserverSpec,
  ObserverView,
  RunId,
  ServiceId,
} from "@unacked/contracts";
import type { Books } from "../../domain/books/books.ts";
import type { InventoryParts } from "../../domain/books/inventory-parts.ts";
import type { ReceivedMessage, SignOfLife } from "../../domain/books/received-message.ts";
import type { KnowsUpdates } from "../../domain/observers/spec-change.ts";
import type { ActionDone } from "../access/audit.ts";
import type { NewObserver } from "../observers/new-observer.ts";
import type { ObserverRef } from "../observers/observer-tools.ts";
import type { FreeWorkers } from "../observers/workers-left.ts";
import type { TypeDirectory } from "../types/type-check.ts";

/** The books as an operation sees them: rows are loaded locked, decided upon in memory, and written by a few statements. */
export interface BooksStore {
  /** Commits when `work` resolves, rolls back when it rejects. */
  inTransaction<T>(work: (tx: BooksTransaction) => Promise<T>): Promise<T>;
  /** Writes a sign of life by itself. @returns false where more follows from it: then nothing is written */
  noteSignOfLife(sign: SignOfLife): Promise<boolean>;
  /** The ids are in their own order, in which rows are locked. */
  findMatching(filter: ObserverFilter): Promise<ObserverId[]>;
  /** The bytes of what may be long of each when it is shown, in the order of the refs; 0 where nothing is there. */
  sizesOf(refs: readonly ObserverRef[]): Promise<number[]>;
  /** Those of these runs that were ordered to stop because the books did not have their observer. */
  findUnknownRuns(runIds: RunId[]): Promise<Map<RunId, UnknownRun>>;
}

/** A run that was ordered to stop since the books did not have its observer, and where the order went. */
export interface UnknownRun {
  observerId: ObserverId;
  messageId: MessageId;
  revision: number;
  serviceId: ServiceId;
  serviceName: string;
  /** The pool of that service, as the books knew it when the order was given. */
  pool: string;
}

/** What is asked without waiting for the answer before goes out at once, and is done in the order in which it was asked. */
export interface BooksTransaction {
  /** What living services announce. */
  readonly types: TypeDirectory;
  /** Loads and locks every row that these messages can touch. */
  loadFor(messages: ReceivedMessage[], inventories: InventoryParts): Promise<Books>;
  /**
   * Loads and locks observers with their current runs. By name: the one that is not Deleted, else the last that was.
   * `ids` are in the order of the refs; undefined where there is none, or it is not among those that match.
   */
  loadObservers(refs: ObserverRef[], among?: ObserverFilter): Promise<{ books: Books; ids: (ObserverId | undefined)[] }>;
  /** Loads and locks, with their current runs, those of these observers that match. */
  loadMatching(ids: ObserverId[], filter: ObserverFilter): Promise<Books>;
  /** Loads and locks those observers whose rows still bear the given mark (see ReconcilerStore.sight). */
  loadUnchanged(ids: ObserverId[], marks: ReadonlyMap<string, string>): Promise<Books>;
  write(books: Books): Promise<void>;
  /** What is wanted of an observer from now on, beside what the books say of it: its row is locked. */
  writeSpec(id: ObserverId, spec: ObserverSpec): Promise<void>;
  /** What can be told to runs of this type on that service. */
  knowsUpdates(service: ServiceId, type: string): Promise<KnowsUpdates>;
  recordErrors(errors: NewError[]): Promise<void>;
  /** Records events that were not understood among the errors, and keeps them whole for a manager that understands them. */
  keepUnapplied(events: KeptEvent[]): Promise<void>;
  /**
   * Takes an event that was kept, and its error, out of the books.
   * @returns false where it is not there any more: another manager has applied it, or somebody removed the error
   */
  takeUnapplied(id: string): Promise<boolean>;
  /** What a retry needs of an entry of the errors. */
  findError(id: string): Promise<{ observerId: ObserverId | null; reason: string; body: string } | undefined>;
  /** @returns false when there is none */
  deleteError(id: string): Promise<boolean>;
  recordActions(done: ActionDone[]): Promise<void>;
  /** Runs `work` so that its failure undoes only its own writes. */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Inserts those whose id and name are free (the indexes decide, not a look-up) with their start commands.
   * @param claimId of the claim that these commands stand under from the beginning; without one they are due
   * @param mayBeThere some may be there by their id: these wait for nobody who is just changing them. Default: that was looked for
   * @returns the observers that are there now because of this
   */
  insertObservers(observers: NewObserver[], claimId?: string, mayBeThere?: boolean): Promise<Map<ObserverId, Inserted>>;
  /** Those of these times that have not come, by the books' clock, which stands still in a transaction. */
  laterThanNow(times: readonly string[]): Promise<Set<string>>;
  /** One decision about a pool's workers at a time: held until the transaction ends. Taken after the rows of observers that are there, and before there are new ones. */
  lockPool(pool: string): Promise<void>;
  /**
   * Workers of living services that do not drain, less observers that take or await one: of the pool, and of each of these
   * types, by the services that know it and the observers of that type.
   */
  freeWorkers(pool: string, types: readonly string[]): Promise<FreeWorkers>;
  /** Those of these names that belong to an observer which is not Deleted: a hint, as only the insert decides. */
  namesTaken(names: string[]): Promise<Set<string>>;
  /**
   * What the next run starts with, under this fencing token; null: nothing. The one before is kept.
   * @param number default: one more than that of the one before
   */
  setCheckpoint(id: ObserverId, fencingToken: number, json: string | null, number?: number): Promise<void>;
  readCheckpoint(id: ObserverId): Promise<CheckpointView>;
  /** The observers as this transaction leaves them. */
  viewObservers(ids: ObserverId[]): Promise<Map<ObserverId, ObserverView>>;
}

/** claimedStart: its start command, where that stands under the claim that was given. */
export interface Inserted {
  observer: ObserverView;
  claimedStart?: string;
}

/** An event for a manager that understands it. It goes when its error goes: with the retention, or removed by somebody. */
export interface KeptEvent {
  error: NewError & { messageId: string };
  observerIds: string[];
  /** The JSON of a batch with this event alone. */
  batch: string;
}

/** PostgreSQL will never take this value (a NUL in a text, say): trying again is of no use. */
export class RefusedByDatabase extends Error {
  readonly code = "refused-by-database";
}

/** The error comes each time: the database never takes it, or our own code cannot work with it. All other errors pass. */
export const isForGood = (error: unknown): error is Error =>
  error instanceof RefusedByDatabase || error instanceof TypeError || error instanceof RangeError;

/** An error as it will stand in the errors table. `messageId` tells a redelivery; null where the message had none. */
export type NewError = Omit<ErrorReport, "kind" | "reason"> & { reason: ErrorReason; messageId: string | null };

export interface ErrorBook {
  /** Safe to repeat: an error of a messageId that is there already is skipped. */
  record(errors: NewError[]): Promise<void>;
}
