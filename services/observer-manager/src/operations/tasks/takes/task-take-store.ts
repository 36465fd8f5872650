import type { SendId, TakeTasks, TaskId, TaskInput, TaskStatus, TaskView } from "@unacked/contracts";
import type { FailedAttempt } from "../../../domain/tasks/taken-attempt.ts";
import type { Action } from "../../access/audit.ts";
import type { OverTask } from "../ledger/task-ledger-store.ts";

export interface HeldTask {
  id: TaskId;
  sendId: SendId;
  type: string;
  params: unknown;
  failures: number;
  leaseUntil: Date;
  /** A task of a flow has them: the results of what it comes directly after. */
  inputs?: readonly TaskInput[];
}

/** How an attempt outside ended. `given-back`: it was none, and is due as before · `postponed`: it was none, and goes on in `inMs` */
export type TakenEnd =
  | { outcome: "completed"; output: string }
  | ({ outcome: "failed" } & FailedAttempt)
  | { outcome: "given-back" }
  | { outcome: "postponed"; inMs: number; reason: string };

/** Something was asked of a taking that is none (any more). */
export type NotHeld =
  | { kind: "not-found" }
  /** What the task is now. */
  | { kind: "not-held"; status: TaskStatus };

/** Tasks that workers outside have, as the operations see them. */
export interface TaskTakeStore {
  /**
   * Claims them as the dispatcher does, and for nobody else until the lease is over.
   * @returns also when a type that its rate holds back may go on (null: none is); whether it has passed what somebody else was looking at,
   * and claimed none: by now that may be free; and, of those that have no room in one answer, which are over, as `giveBack` has it
   */
  take(
    asked: Pick<TakeTasks, "types" | "pool" | "count" | "leaseMs">,
    action: Action,
  ): Promise<{ tasks: HeldTask[]; nextRoomInMs: number | null; hasPassed: boolean; over: TaskId[] }>;
  /**
   * Makes them Ready again, and counted as before: who asked for them by that action has never had them. Who ran them last, where and when
   * is forgotten.
   * @returns those that somebody has cancelled meanwhile: they are over
   */
  giveBack(held: readonly Pick<HeldTask, "id" | "sendId">[], action: Pick<Action, "id">): Promise<TaskId[]>;
  /** Those of these types of which nobody has ever heard. */
  unknown(types: readonly string[]): Promise<string[]>;
  /** Those of these types that had a task which was Ready in another pool a second ago, with the first of them, and none in this one. */
  inOtherPools(asked: Pick<TakeTasks, "types" | "pool">): Promise<{ type: string; pool: string }[]>;
  /** Those of these types that have a task which is Ready. */
  waiting(kinds: { pool: string; type: string }[]): Promise<{ pool: string; type: string }[]>;
  /**
   * Ends a taking that is current.
   * @param end is told what was before the end
   * @returns `repeated`: it was told before; the task as it is now
   */
  end(
    held: { id: TaskId; sendId: SendId },
    end: (attempts: { failures: number; maxAttempts: number | null }) => TakenEnd,
    action: Action,
  ): Promise<{ kind: "ended" | "repeated"; task: TaskView } | NotHeld>;
  /** `cancelling`: somebody has cancelled it, and its lease stays as it was. */
  extend(
    held: { id: TaskId; sendId: SendId },
    leaseMs: number,
  ): Promise<{ kind: "extended"; until: Date } | { kind: "cancelling" } | NotHeld>;
  /**
   * Ends the lease of whoever has it, as if it were over. @returns the task as it is now, which may be over; or how one stands that no
   * worker outside has
   */
  takeBack(
    id: TaskId,
    action: Action,
  ): Promise<
    | { kind: "taken-back"; task: TaskView; over: OverTask[] }
    | { kind: "not-found" }
    | { kind: "not-taken"; status: TaskStatus }
  >;
  /** Ends the leases that are over. @returns how many tasks go on elsewhere, and which are over with their third */
  endLeases(limit: number): Promise<{ again: number; over: OverTask[] }>;
  /** The time until the next one is over; null when nothing is taken. */
  nextLeaseInMs(): Promise<number | null>;
}
