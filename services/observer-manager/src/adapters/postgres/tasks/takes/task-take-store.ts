import type { RunId, SendId, TaskId, TaskInterruption, TaskStatus, TaskView } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import { isSlowClaim } from "../../../../domain/tasks/claim-floors.ts";
import { type Action, doneToTasks } from "../../../../operations/access/audit.ts";
import type { OverTask } from "../../../../operations/tasks/ledger/task-ledger-store.ts";
import type { HeldTask, NotHeld, TakenEnd, TaskTakeStore } from "../../../../operations/tasks/takes/task-take-store.ts";
import { recordActions } from "../../access/audit-rows.ts";
import { MAX_TAKE_BYTES, readInputs } from "../../flows/flow-inputs.ts";
import { againAfterDeadlock } from "../../statements/deadlock.ts";
import { Looks } from "../../statements/looks.ts";
import { rethrowRefused } from "../../statements/refused.ts";
import { Analysis } from "../../upkeep/analysis.ts";
import { Vacuum } from "../../upkeep/vacuum.ts";
import { GIVEN_BACK, type GivenBack, uncount } from "../claims/claims-given-back.ts";
import { viewOf } from "../desk/postgres-task-store.ts";
import { CANCELLED, FAILED_BY_CRASHES, MAX_CRASHES, NEXT_IF_CANCELLED } from "../ended-task-rows.ts";
import { ENDS, parametersOfEnds, type ToldEnd } from "../ledger/task-ends.ts";
import { interruptedNote, onTaker } from "../task-interruptions.ts";
import { isKnownType } from "../views/task-view.ts";
import { TAKE } from "./task-take.ts";
import { elsewhere, WaitingKinds } from "./waiting-kinds.ts";

/** Once one of a kind is found, no other is looked at. Index: tasks_ready_of_type. */
export const WAITING = `
  SELECT pool, type FROM unnest($1::text[], $2::text[]) AS w (pool, type)
  WHERE (SELECT true FROM tasks t WHERE t.pool = w.pool AND t.type = w.type AND t.status = 'Ready'
         ORDER BY priority DESC, due_at, id LIMIT 1)`;

const UNKNOWN = `SELECT type FROM unnest($1::text[]) WITH ORDINALITY AS w (type, place) WHERE NOT ${isKnownType("w.type")} ORDER BY place`;

/**
 * What somebody has cancelled meanwhile is to be over, as where a lease is. The take counts as no send, and is taken out of the entry $3 of
 * the trail. TAKE has overwritten where and when the task ran last: neither is told.
 * Indexes: tasks_pkey, audit_pkey.
 */
const GIVE_BACK = `
  WITH back AS (
    UPDATE tasks t SET status = 'Ready', send_id = NULL, run_id = NULL, lease_until = NULL, taken_by = NULL, sends = t.sends - 1,
      started_at = NULL, ${NEXT_IF_CANCELLED}
    FROM unnest($1::uuid[], $2::uuid[]) AS u (id, send_id)
    WHERE t.id = u.id AND t.send_id = u.send_id AND t.id = ANY($1) AND t.lease_until IS NOT NULL
    RETURNING t.id, t.type, t.sent_at, t.cancel_requested_at IS NOT NULL AS cancelling
  ), these AS (
    SELECT count(*)::int AS count, array_agg(id::text) AS ids FROM back
  ), fewer AS (
    UPDATE audit a SET count = a.count - these.count, targets = (
      SELECT coalesce(jsonb_agg(target ORDER BY place), '[]')
      FROM jsonb_array_elements(a.targets) WITH ORDINALITY AS t (target, place) WHERE target ->> 'id' <> ALL(these.ids))
    FROM these WHERE a.id = $3 AND these.count > 0 AND a.count > these.count
  ), none AS (
    DELETE FROM audit a USING these WHERE a.id = $3 AND a.count = these.count)
  SELECT coalesce((SELECT array_agg(id) FROM back WHERE cancelling), '{}') AS cancelled,
    coalesce((SELECT jsonb_agg(types) FROM (${GIVEN_BACK}) types), '[]') AS back`;

/** Of an end and that of the lease, the second one finds what the first has made of the task. */
const LOCK = `
  SELECT status, run_id AS "runId", failures, max_attempts AS "maxAttempts", told_send = $2 AS "isTold",
         coalesce(send_id = $2 AND lease_until IS NOT NULL, false) AS "isHeld",
         extract(epoch FROM clock_timestamp() - started_at)::float8 * 1000 AS "tookMs"
  FROM tasks WHERE id = $1 FOR UPDATE`;

/**
 * How a task stands that was not in `tasks`. It is one statement, as a retry may bring it back there just then. Indexes:
 * ended_tasks_by_id, tasks_pkey.
 */
const WHAT_NOW = ["ended_tasks", "tasks"]
  .map((table) => `SELECT status, told_send = $2 AS "isTold" FROM ${table} WHERE id = $1`)
  .join(" UNION ALL ");

const EXTEND = `
  WITH held AS (
    UPDATE tasks SET lease_until = unacked_now() + $3::float8 * interval '1 millisecond'
    WHERE id = $1 AND send_id = $2 AND lease_until IS NOT NULL AND cancel_requested_at IS NULL RETURNING lease_until AS until)
  SELECT until FROM held`;

/**
 * A lease that is over is an interruption, and a crash: the third crash is the task's end. @param which selects the ids of the tasks, as SQL,
 * and locks them @param reason why it is over
 */
const leasesOver = (which: string, reason: TaskInterruption): string => `
  WITH left_alone AS (
    UPDATE tasks t SET status = 'Ready', send_id = NULL, run_id = NULL, lease_until = NULL, ${NEXT_IF_CANCELLED},
      interruptions = t.interruptions + 1, crashes = t.crashes + 1,
      story = coalesce(t.story, '{}') || ${interruptedNote(onTaker(`'${reason}'`))}
    WHERE id = ANY(ARRAY(${which}))
    RETURNING id, crashes, cancel_requested_at IS NOT NULL AS cancelling, taken_by AS "takenBy")
  SELECT * FROM left_alone`;

/** Index: tasks_leases. */
const LEASES_OVER = leasesOver(
  "SELECT id FROM tasks WHERE lease_until <= unacked_now() ORDER BY lease_until LIMIT $1 FOR UPDATE SKIP LOCKED",
  "lease-over",
);

/** Index: tasks_pkey. */
const TAKEN_BACK = leasesOver("SELECT id FROM tasks WHERE id = $1 AND lease_until IS NOT NULL FOR UPDATE", "taken-back");

/** Index: tasks_leases. */
const NEXT_LEASE =
  "SELECT extract(epoch FROM min(lease_until) - unacked_now())::float8 * 1000 FROM tasks WHERE lease_until IS NOT NULL";

const TOO_MANY_LEASES = {
  name: "LeasesOverError",
  message: `${MAX_CRASHES} times the worker that had it was gone before its end: its lease ran out or was ended by hand, or its service ended. It is not given to another`,
};

/** There is always one row: without a task if none was claimed. */
interface TakeRow extends Omit<HeldTask, "id"> {
  taskId: TaskId | null;
  flowId: string | null;
  flowRef: string | null;
  /** The take has no room for its params. */
  isBeyond: boolean | null;
  nextRoomInMs: number | null;
  hasPassed: boolean;
}

interface GivenBackRow {
  cancelled: TaskId[];
  back: GivenBack[];
}

interface LeaseOverRow {
  id: TaskId;
  crashes: number;
  cancelling: boolean;
  takenBy: string;
}

interface LockedRow {
  status: TaskStatus;
  runId: RunId;
  failures: number;
  maxAttempts: number | null;
  isTold: boolean | null;
  isHeld: boolean;
  tookMs: number;
}

/** Tasks that workers outside have taken. */
export class PostgresTaskTakeStore implements TaskTakeStore {
  readonly #dataSource: DataSource;
  readonly #vacuum: Vacuum;
  readonly #analysis: Analysis;
  readonly #kinds: WaitingKinds;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#kinds = new WaitingKinds(dataSource);
    this.#vacuum = new Vacuum(dataSource, "tasks");
    this.#analysis = new Analysis(dataSource, "tasks");
  }

  async take(
    { pool, types, count, leaseMs }: Parameters<TaskTakeStore["take"]>[0],
    action: Action,
  ): ReturnType<TaskTakeStore["take"]> {
    const parameters = [pool, count, leaseMs, types, action.by.name, JSON.stringify(toRecord(action))];
    const beganMs = performance.now();
    const rows = await this.#dataSource.query<TakeRow[]>(TAKE, parameters);
    const tookMs = performance.now() - beganMs;
    const taken = rows.flatMap((row) => (row.taskId === null ? [] : [{ ...row, taskId: row.taskId }]));
    this.#vacuum.changed(taken.length);
    if (isSlowClaim(tookMs, taken.length)) void this.#analysis.renew();
    const giveBack = (some: typeof taken) =>
      this.giveBack(
        some.map(({ taskId: id, sendId }) => ({ id, sendId })),
        action,
      );
    const fitting = taken.filter(({ isBeyond }) => isBeyond !== true);
    const { inputs, within, beyond } = await readInputs(this.#dataSource, fitting, MAX_TAKE_BYTES).catch(
      async (error: unknown) => {
        await giveBack(taken);
        throw error;
      },
    );
    const left = [...beyond, ...taken.filter(({ isBeyond }) => isBeyond === true)];
    const over = left.length > 0 ? await giveBack(left) : [];
    const tasks = within.map(({ taskId: id, sendId, type, params, failures, leaseUntil }) => {
      const own = inputs.get(id);
      return { id, sendId, type, params, failures, leaseUntil, ...(own !== undefined && { inputs: own }) };
    });
    return { tasks, nextRoomInMs: rows[0]?.nextRoomInMs ?? null, hasPassed: rows[0]?.hasPassed ?? false, over };
  }

  async giveBack(...[held, { id: actionId }]: Parameters<TaskTakeStore["giveBack"]>): Promise<TaskId[]> {
    const parameters = [held.map(({ id }) => id), held.map(({ sendId }) => sendId), actionId];
    const write = async (tx: EntityManager): Promise<GivenBackRow> => {
      const [row] = await tx.query<[GivenBackRow]>(GIVE_BACK, parameters);
      if (row.cancelled.length > 0) await tx.query(CANCELLED, [row.cancelled]);
      return row;
    };
    // Who cancels many may lock two of them in the other order; what is not given back is nobody's until its lease is over.
    const { cancelled, back } = await againAfterDeadlock(() => this.#dataSource.transaction(write));
    await uncount(this.#dataSource, back);
    return cancelled;
  }

  async unknown(types: readonly string[]): Promise<string[]> {
    return (await this.#dataSource.query<{ type: string }[]>(UNKNOWN, [types])).map(({ type }) => type);
  }

  async inOtherPools(asked: Parameters<TaskTakeStore["inOtherPools"]>[0]): ReturnType<TaskTakeStore["inOtherPools"]> {
    return elsewhere(await this.#kinds.get(), asked);
  }

  waiting(kinds: { pool: string; type: string }[]): Promise<{ pool: string; type: string }[]> {
    return this.#dataSource.query(WAITING, [kinds.map(({ pool }) => pool), kinds.map(({ type }) => type)]);
  }

  async end(
    { id, sendId }: { id: TaskId; sendId: SendId },
    end: Parameters<TaskTakeStore["end"]>[1],
    action: Action,
  ): ReturnType<TaskTakeStore["end"]> {
    const write = async (tx: EntityManager): ReturnType<TaskTakeStore["end"]> => {
      const [row] = await tx.query<LockedRow[]>(LOCK, [id, sendId]);
      if (row?.isHeld) {
        await tx.query(ENDS, parametersOfEnds([{ taskId: id, sendId, runId: row.runId }], [endOf(end(row), row.tookMs)]));
        await recordActions(tx, [doneToTasks(action, [id])]);
        return { kind: "ended", task: (await viewOf(tx, id)) as TaskView };
      }
      const now = row ?? (await tx.query<Pick<LockedRow, "status" | "isTold">[]>(WHAT_NOW, [id, sendId]))[0];
      if (now?.isTold) return { kind: "repeated", task: (await viewOf(tx, id)) as TaskView };
      return now === undefined ? { kind: "not-found" } : { kind: "not-held", status: now.status };
    };
    return await this.#dataSource.transaction(write).catch(rethrowRefused);
  }

  async extend({ id, sendId }: { id: TaskId; sendId: SendId }, leaseMs: number): ReturnType<TaskTakeStore["extend"]> {
    const [extended] = await this.#dataSource.query<{ until: Date }[]>(EXTEND, [id, sendId, leaseMs]);
    return extended === undefined ? this.#whyNot(id, sendId) : { kind: "extended", until: extended.until };
  }

  takeBack(id: TaskId, action: Action): ReturnType<TaskTakeStore["takeBack"]> {
    return this.#dataSource.transaction(async (tx) => {
      const [row] = await tx.query<LeaseOverRow[]>(TAKEN_BACK, [id]);
      if (row === undefined) {
        const [now] = await tx.query<Pick<LockedRow, "status">[]>(WHAT_NOW, [id, null]);
        return now === undefined ? { kind: "not-found" } : { kind: "not-taken", status: now.status };
      }
      const over = await endUnwanted(tx, [row]);
      await recordActions(tx, [doneToTasks({ ...action, details: { takenBy: row.takenBy } }, [id])]);
      return { kind: "taken-back", task: (await viewOf(tx, id)) as TaskView, over };
    });
  }

  endLeases(limit: number): ReturnType<TaskTakeStore["endLeases"]> {
    return this.#dataSource.transaction(async (tx) => {
      const rows = await tx.query<LeaseOverRow[]>(LEASES_OVER, [limit]);
      const over = await endUnwanted(tx, rows);
      return { again: rows.length - over.length, over };
    });
  }

  nextLeaseInMs(): Promise<number | null> {
    return Looks.of(this.#dataSource).ask(NEXT_LEASE);
  }

  async #whyNot(id: TaskId, sendId: SendId): Promise<NotHeld | { kind: "cancelling" }> {
    const [row] = await this.#dataSource.query<LockedRow[]>(LOCK.replace("FOR UPDATE", ""), [id, sendId]);
    if (row?.isHeld) return { kind: "cancelling" };
    const now = row ?? (await this.#dataSource.query<Pick<LockedRow, "status">[]>(WHAT_NOW, [id, sendId]))[0];
    return now === undefined ? { kind: "not-found" } : { kind: "not-held", status: now.status };
  }
}

/** What somebody has cancelled is not given to another, nor what has had too many leases that were over. @returns what is over */
async function endUnwanted(tx: EntityManager, rows: readonly LeaseOverRow[]): Promise<OverTask[]> {
  const cancelled = rows.filter(({ cancelling }) => cancelling).map(({ id }) => id);
  const failed = rows.filter(({ cancelling, crashes }) => !cancelling && crashes >= MAX_CRASHES).map(({ id }) => id);
  if (cancelled.length > 0) await tx.query(CANCELLED, [cancelled]);
  if (failed.length > 0) await tx.query(FAILED_BY_CRASHES, [failed, JSON.stringify(TOO_MANY_LEASES)]);
  return [
    ...cancelled.map((id) => ({ id, status: "Cancelled" as const })),
    ...failed.map((id) => ({ id, status: "Failed" as const })),
  ];
}

/** As the ledger has the end that a service tells. */
const endOf = (end: TakenEnd, tookMs: number): ToldEnd => ({
  outcome: end.outcome,
  tookMs: Math.max(0, tookMs),
  ...toldOf(end),
});

function toldOf(end: TakenEnd): Omit<ToldEnd, "outcome" | "tookMs"> {
  switch (end.outcome) {
    case "completed":
      return { output: end.output };
    case "failed":
      return { error: JSON.stringify(end.error), inMs: end.retryInMs };
    case "given-back":
      return {};
    case "postponed":
      return { inMs: end.inMs, note: JSON.stringify({ postponedFor: end.reason }) };
    default:
      return end satisfies never;
  }
}

const toRecord = ({ id, kind, by }: Action) => ({
  id,
  actor: by.name,
  role: by.role,
  authentication: by.authentication,
  address: by.address,
  request_id: by.requestId,
  deed: kind,
});
