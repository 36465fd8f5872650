import {
  type BeginWork,
  LIVING_STATUSES,
  type ObserverFilter,
  type ObserverId,
  type ProblemCode,
  type WorkId,
  type WorkPage,
  type WorkStatusName,
  type WorkView,
} from "@unacked/contracts";
import type { Actor, AuditedActor } from "../../domain/access/identity.ts";
import type { BooksTransaction } from "../books/books-store.ts";

/** What is wanted, and of what, with all that was left out. */
export type BulkWorkWish = Pick<BeginWork, "act" | "all" | "force" | "whenFull"> & { filter: ObserverFilter };

/** What is deleted already is not meant by "all of pool x": only who asks for it by status gets it. */
export const matchOf = ({ filter }: BulkWorkWish): ObserverFilter => ({ status: [...LIVING_STATUSES], ...filter });

export interface NewBulkWork {
  id: WorkId;
  wish: BulkWorkWish;
  by: AuditedActor;
  /** Each step adds to this entry of the audit trail. */
  auditId: string;
}

export type BeginOutcome = { kind: "begun" | "exists"; work: WorkView } | { kind: "taken" };

/** `found`: it was over already, and stays as it is. */
export type CancelOutcome = { kind: "cancelled" | "found"; work: WorkView } | { kind: "not-found" };

export interface BulkWorkQuery {
  statuses?: readonly WorkStatusName[] | undefined;
  limit: number;
  after?: BulkWorkPosition | undefined;
}

export interface BulkWorkPosition {
  createdAtMicros: string;
  id: string;
}

/** What a step came to. */
export interface BulkWorkStep {
  accepted: number;
  refused: { name: string; code: ProblemCode }[];
}

export interface BulkWorkStore {
  /** `exists`: the same was asked for under this id; `taken`: something else was. */
  begin(work: NewBulkWork): Promise<BeginOutcome>;
  find(id: WorkId): Promise<WorkView | undefined>;
  list(query: BulkWorkQuery): Promise<Omit<WorkPage, "nextCursor"> & { last?: BulkWorkPosition }>;
  /** A step that is under way is finished first, and counts. */
  cancel(id: WorkId, by: Actor): Promise<CancelOutcome>;
  /** Whether some is not over. Somebody may be at it just now: that is not asked. */
  isAnyRunning(): Promise<boolean>;
  /**
   * Takes the next step of the work that has waited longest, of those that nobody is at. `step` is given those who are next by id, and what
   * it writes commits with the work's new place.
   * @returns false where there was none
   */
  advance(
    options: { acts: readonly BeginWork["act"][]; atOnce: number },
    step: (tx: BooksTransaction, work: NewBulkWork, ids: ObserverId[]) => Promise<BulkWorkStep>,
  ): Promise<boolean>;
  /** @returns how many; fewer than `limit`: there are no more */
  forget(olderThanMs: number, limit: number): Promise<number>;
}
