import type { FlowId, FlowStatusName, SendId, TASK_OVER_STATUSES, TaskId } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import {
  chunkOf,
  type EndedStep,
  type Follower,
  isPassed,
  progressOf,
  reasonOf,
} from "../../../domain/flows/flow-progress.ts";
import type { FlowFollowStore, Followed } from "../../../operations/flows/flow-store.ts";
import { againAfterDeadlock } from "../statements/deadlock.ts";
import { Looks } from "../statements/looks.ts";
import { REQUEST_CANCEL } from "../tasks/desk/postgres-task-store.ts";
import { refusalsOf } from "../tasks/task-refusals.ts";
import * as sql from "./flow-follow-statements.ts";

/** One transaction looks at no more. */
const MOST_ENDS = 200;
const MOST_EDGES = 1_000;
/** So often it looks behind flows that others work on: as a rule one look passes one of these. */
const MOST_LOOKS = 20;

interface EndRow extends EndedStep {
  id: string;
  followers: number;
  passed: number;
  isTooLarge: boolean;
}

const NOTHING: Followed = { ends: 0, unlocked: 0, cancelled: [], over: [] };

/** Sorts before the id of every flow. */
const FIRST = "00000000-0000-0000-0000-000000000000";

export class PostgresFlowFollowStore implements FlowFollowStore {
  readonly #dataSource: DataSource;
  /** The flow that could not be cancelled last: those behind it are looked at before it is tried again. */
  #stuck: string = FIRST;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  hasWork(): Promise<boolean> {
    return Looks.of(this.#dataSource).ask(sql.HAS_WORK);
  }

  follow(): Promise<Followed> {
    return this.#write(async (tx) => {
      const flows = await lockFlows(tx);
      if (flows.length === 0) return NOTHING;
      const cancelling = new Set(flows.filter((flow) => flow.cancelling).map(({ id }) => id as string));
      const rows = await tx.query<EndRow[]>(sql.ENDS, [flows.map(({ id }) => id), MOST_ENDS]);
      // Its followers are cancelled with the flow.
      const ends = rows.map((end) => (cancelling.has(end.flowId) ? { ...end, followers: 0 } : end));
      const chunk = chunkOf(ends, MOST_EDGES);
      const over = await settle(
        tx,
        chunk.map(({ end }) => end).filter((end) => end.passed === 0),
      );
      const { unlocked, cancelled } = await followUp(tx, chunk);
      await tx.query(sql.DROP_ENDS, [chunk.filter(({ isDone }) => isDone).map(({ end }) => end.id)]);
      const open = chunk.filter(({ isDone }) => !isDone);
      if (open.length > 0)
        await tx.query(sql.PASSED, [open.map(({ end }) => end.id), open.map(({ end, count }) => end.passed + count)]);
      return { ends: chunk.length, unlocked, cancelled, over };
    });
  }

  async cancelSome(limit: number): ReturnType<FlowFollowStore["cancelSome"]> {
    const behind = this.#stuck;
    const done = await this.#write(async (tx) => {
      const [flow] = await tx.query<{ id: FlowId; reason: string }[]>(sql.LOCK_TO_CANCEL, [behind]);
      if (flow === undefined) return undefined;
      this.#stuck = flow.id; // until it has turned out that it is not
      const left = await tx.query<{ id: TaskId }[]>(sql.TO_CANCEL, [flow.id, limit]);
      const locked = left.length === 0 ? [] : await tx.query<LockedTask[]>(sql.LOCK_TASKS, [left.map(({ id }) => id)]);
      const running = locked.filter(({ status }) => status === "Running").map(({ id }) => id);
      const over = locked.filter(({ status }) => status !== "Running").map(({ id }) => id);
      if (running.length > 0) await tx.query(REQUEST_CANCEL, [running, "{}"]);
      if (over.length > 0) await tx.query(sql.CANCEL_IDLE, [over, over.map(() => flow.reason)]);
      // Some may have ended since: the number of locked ones does not say what is left.
      if (left.length < limit) await tx.query(sql.CANCEL_ORDERED, [flow.id]);
      const sent = locked.filter(({ status }) => status === "Sent");
      return { over, refuse: await refusalsOf(tx, sent) };
    });
    this.#stuck = done === undefined ? FIRST : behind;
    return done === undefined && behind !== FIRST ? this.cancelSome(limit) : done;
  }

  async forget(olderThanMs: number, limit: number): Promise<number> {
    const [row] = await this.#dataSource.query<{ count: number }[]>(sql.FORGET, [olderThanMs, limit]);
    return row?.count ?? 0;
  }

  /** The ledger, or whoever cancels many, may lock two tasks in the other order. */
  #write<Result>(work: (tx: EntityManager) => Promise<Result>): Promise<Result> {
    return againAfterDeadlock(() => this.#dataSource.transaction(work));
  }
}

interface LockedTask {
  id: TaskId;
  status: string;
  pool: string;
  sendId: SendId;
}

interface FoundFlow {
  id: FlowId;
  isLocked: boolean;
  cancelling: boolean;
}

/**
 * Locks the flows of the first ends. If others work on all of these, as on one that is wide, it takes those of the first ends of
 * other flows.
 */
async function lockFlows(tx: EntityManager): Promise<FoundFlow[]> {
  const ofOthers: FlowId[] = [];
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const found = await tx.query<FoundFlow[]>(sql.LOCK_FLOWS, [MOST_ENDS, ofOthers]);
    const locked = found.filter(({ isLocked }) => isLocked);
    if (locked.length > 0 || found.length === 0) return locked;
    ofOthers.push(...found.map(({ id }) => id));
  }
  return [];
}

/** Writes down how they ended. @returns flows that are over by that */
async function settle(tx: EntityManager, ends: EndRow[]): Promise<Followed["over"]> {
  if (ends.length === 0) return [];
  await tx.query(sql.SETTLE, [ends.map(({ id }) => id), ends.map(({ isTooLarge }) => isTooLarge)]);
  const flows = new Map<string, EndRow[]>();
  for (const end of ends) flows.set(end.flowId, [...(flows.get(end.flowId) ?? []), end]);
  const all = [...flows];
  const counts = (status: (typeof TASK_OVER_STATUSES)[number]): number[] =>
    all.map(([, some]) => some.filter((end) => end.status === status).length);
  const stands = (end: EndRow): boolean => !isPassed(end);
  const rows = await tx.query<{ id: FlowId; status: FlowStatusName }[]>(sql.COUNT, [
    all.map(([id]) => id),
    counts("Completed"),
    counts("Failed"),
    counts("Cancelled"),
    all.map(([, some]) => {
      const first = some.find(stands);
      return first === undefined ? null : reasonOf(first);
    }),
  ]);
  return rows.filter(({ status }) => status !== "Running");
}

async function followUp(
  tx: EntityManager,
  chunk: { end: EndRow; count: number }[],
): Promise<Pick<Followed, "unlocked" | "cancelled">> {
  const some = chunk.filter(({ count }) => count > 0);
  if (some.length === 0) return { unlocked: 0, cancelled: [] };
  const followers = await tx.query<Follower[]>(sql.FOLLOWERS, [
    some.map(({ end }) => end.flowId),
    some.map(({ end }) => end.ref),
    some.map(({ end }) => end.passed),
    some.map(({ count }) => count),
  ]);
  const { waiting, unlock, cancel } = progressOf(
    some.map(({ end }) => end),
    followers,
  );
  await tx.query(sql.WAITING, [
    waiting.map(({ flowId }) => flowId),
    waiting.map(({ ref }) => ref),
    waiting.map((one) => one.waiting),
  ]);
  const unlocked = unlock.length === 0 ? [] : await tx.query<unknown[]>(sql.UNLOCK, [unlock]);
  const cancelled =
    cancel.length === 0
      ? []
      : await tx.query<{ id: TaskId }[]>(sql.CANCEL_BLOCKED, [
          cancel.map(({ taskId }) => taskId),
          cancel.map(({ reason }) => reason),
        ]);
  return { unlocked: unlocked.length, cancelled: cancelled.map(({ id }) => id) };
}
