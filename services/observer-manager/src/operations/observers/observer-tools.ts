import type {
  ChangeObserver,
  CreateObserver,
  ObserverFilter,
  ObserverId,
  ObserverView,
  ProblemCode,
  PutObserver,
  WhenFull,
} from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import type { SpecDifference } from "../../domain/observers/spec-change.ts";
import type { Refusal } from "../refusal.ts";

/**
 * What writes. Each answer is given after the commit, with the observer as that transaction left it; and with it, in the
 * same transaction, stands who did it in the audit trail.
 */
export interface Lifecycle {
  /**
   * `exists`: an observer with this client-chosen id and the very same body is there already.
   * Problems: name-taken, id-taken, unknown-type (+ knownTypes), invalid-body (+ errors), pool-not-served,
   * no-free-worker, not-ready.
   */
  createObserver(request: CreateObserver, by: Actor): Promise<CreateOutcome>;

  /**
   * The same for many, answered one by one in order: a bad one does not cost the others, unless `atomic`. Then either all are
   * created, or those that are to blame carry their problem and the others batch-refused. One that was refused before it
   * came here (by its shape) keeps its place and its problem.
   */
  createObservers(
    requests: (CreateObserver | Refusal)[],
    options: { atomic: boolean },
    by: Actor,
  ): Promise<CreateOutcome[] | Refusal>;

  /**
   * Changes what is wanted of one. Problems: observer-not-found, spec-changed (+ specVersion, differs), unknown-type, invalid-body,
   * pool-not-served, no-free-worker, already-deleting, already-deleted, not-ready (also while a manager may be about that cannot).
   */
  changeSpec(request: Omit<SpecRequest, "type">, by: Actor): Promise<SpecChanged | Refusal>;

  /** Creates it, or changes what is otherwise. Problems: those of both, and other-type. */
  putObserver(
    ref: ObserverRef,
    definition: PutObserver,
    options: Pick<SpecRequest, "ifMatch">,
    by: Actor,
  ): Promise<PutOutcome>;

  /** Problems: observer-not-found, not-activated, already-deleting, already-deleted, not-ready. */
  deleteObserver(ref: ObserverRef, options: { force: boolean }, by: Actor): Promise<ChangeOutcome>;

  /** Problems: observer-not-found, not-restartable, paused, scheduled, already-deleting, already-deleted, not-ready. */
  restartObserver(ref: ObserverRef, by: Actor): Promise<ChangeOutcome>;

  /**
   * Problems: observer-not-found, not-pausable, already-deleting, already-deleted, not-ready (also while a manager may be about
   * that does not know what Paused is).
   */
  pauseObserver(ref: ObserverRef, by: Actor): Promise<ChangeOutcome>;

  /** Problems: observer-not-found, not-paused, already-deleting, already-deleted, no-free-worker, not-ready. */
  resumeObserver(ref: ObserverRef, options: { whenFull: WhenFull }, by: Actor): Promise<ChangeOutcome>;

  /**
   * The same for many, answered in the order of the refs. What was accepted stays so: when the database goes away in the middle, the rest
   * is answered batch-interrupted.
   * @param among with ids: only those are changed that match it when their turn comes; the others are left alone
   */
  changeObservers(
    refs: ObserverRef[],
    among: ObserverFilter | undefined,
    change: BulkChange,
    by: Actor,
  ): Promise<(ChangeOutcome | "left-alone")[] | Refusal>;

  /** Asks it of all that match now; one that no longer does when its turn comes is left alone. */
  changeMatching(filter: ObserverFilter, change: BulkChange, by: Actor): Promise<BulkCount | Refusal>;
}

export type CreateOutcome =
  /** claimedStart: the command that starts it, where its transaction has claimed it for the sender of own starts. */
  { kind: "created"; observer: ObserverView; claimedStart?: string } | { kind: "exists"; observer: ObserverView } | Refusal;

/** What somebody wants of an observer that is there. */
export interface SpecRequest {
  ref: ObserverRef;
  change: ChangeObserver;
  /** A whole definition has it: the observer has to be of this type already. */
  type?: string;
  /** The value of the header. */
  ifMatch: string | undefined;
  /** What becomes of a change to another pool that finds no worker. */
  whenFull: WhenFull;
  /** It only answers as if, and changes nothing. */
  dryRun: boolean;
}

/** `changed`: from what to what, nothing where it was so already. */
export interface SpecChanged {
  kind: "changed" | "unchanged";
  observer: ObserverView;
  changed: SpecDifference[];
}

export type PutOutcome = SpecChanged | { kind: "created"; observer: ObserverView; changed: [] } | Refusal;

export type ChangeOutcome = { kind: "accepted"; observer: ObserverView } | Refusal;

/** What is asked of many observers. */
export interface BulkChange {
  kind: "stop" | "restart" | "pause" | "resume";
  /** A stop also takes what has not started, or what nobody answers for. */
  force: boolean;
  /** What is to become of those to be resumed for which there is no worker. */
  whenFull?: WhenFull;
  /** It only answers as if, and changes nothing. */
  dryRun: boolean;
}

export interface BulkCount {
  matched: number;
  accepted: number;
  refused: Partial<Record<ProblemCode, number>>;
}

/** What a path takes: a name finds the living observer of that name, an id also a deleted one. */
export type ObserverRef = { kind: "id"; id: ObserverId } | { kind: "name"; name: string };

/** Its filters are combined by "and", the statuses by "or". */
export interface ObserverQuery extends ObserverFilter {
  sort: ObserverSort;
  limit: number;
  after?: ObserverPosition;
}

export type ObserverSort = "newest" | "oldest" | "attempts";

/** A place in a list: the last row of a page, exactly (microseconds, as PostgreSQL keeps them). */
export type ObserverPosition =
  | { sort: "newest" | "oldest"; createdAtMicros: string; id: string }
  | { sort: "attempts"; attempts: number; createdAtMicros: string; id: string };
