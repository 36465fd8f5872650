import {
  type ChangeTask,
  MAX_TASK_COUNT,
  type SendId,
  TASK_OVER_STATUSES,
  type TaskId,
  type TaskTypeInfo,
  type TaskView,
} from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import { type Action, doneToTasks } from "../../../../operations/access/audit.ts";
import type { InsertOutcome } from "../../../../operations/tasks/creations/insert-outcome.ts";
import type { Creation } from "../../../../operations/tasks/creations/new-task.ts";
import type { TaskTypeStore } from "../../../../operations/tasks/creations/task-type-store.ts";
import type { TaskQuery, TaskStore } from "../../../../operations/tasks/desk/task-store.ts";
import type { AtOnce } from "../../../../operations/tasks/dispatch/at-once.ts";
import type { LivePool, LivePools } from "../../../../operations/types/unknown-type.ts";
import { recordActions } from "../../access/audit-rows.ts";
import { transact } from "../../connection/transaction.ts";
import { andOnService } from "../../services/on-service.ts";
import { againAfterDeadlock } from "../../statements/deadlock.ts";
import { type LiveAndEnded, listNewest } from "../../statements/live-and-ended.ts";
import { prepared } from "../../statements/prepared.ts";
import { rethrowRefused } from "../../statements/refused.ts";
import { SqlConditions } from "../../statements/sql-conditions.ts";
import { livePools } from "../../types/type-reads.ts";
import { TypesByHash, type TypesRow } from "../../types/types-by-hash.ts";
import { Vacuum } from "../../upkeep/vacuum.ts";
import { countCreated } from "../creations/task-created.ts";
import { insertBeside } from "../creations/task-insert-beside.ts";
import { CANCELLED_BY } from "../ended-task-rows.ts";
import { refusalsOf } from "../task-refusals.ts";
import { TASK_SERVICE_LIVES } from "../task-services.ts";
import { viewsOf } from "../views/task-standings.ts";
import { ENDED_AMONG, ENDED_COLUMNS, FIND_ONE, IN_FLIGHT, LIVE_COLUMNS, type TaskRow, WAITING } from "../views/task-view.ts";
import { reviveOne } from "./task-revival.ts";

/** Whether a cancel changes something: a task that is being cancelled goes on with what came after that, which another cancel drops. */
export const TO_CANCEL = "(cancel_requested_at IS NULL OR next_params IS NOT NULL)";
const LOCK = `
  SELECT status, pool, send_id AS "sendId", priority, ${TO_CANCEL} AS "isToCancel" FROM tasks WHERE id = $1 FOR UPDATE`;
const PRIORITY = "UPDATE tasks SET priority = $2 WHERE id = $1";
/** $2: what its story says of the cancel; who asks once more changes nothing of that. */
export const REQUEST_CANCEL = `
  UPDATE tasks SET cancel_requested_at = coalesce(cancel_requested_at, now()), next_params = NULL,
    story = CASE WHEN cancel_requested_at IS NULL THEN coalesce(story, '{}') || $2::jsonb ELSE story END WHERE id = ANY($1)`;
export const MAKE_DUE = "UPDATE tasks SET status = 'Ready', due_at = least(due_at, unacked_now()) WHERE id = ANY($1)";

const THERE_AMONG = `SELECT id FROM tasks WHERE id = ANY($1) UNION ${ENDED_AMONG}`;

/** Reads a handful of rows; leaves out the types of the hashes $2. */
const LIVE_TYPES = prepared(`
  SELECT g.types_hash::text AS hash, g.services, pg_column_size(s.types) AS bytes,
         CASE WHEN g.types_hash <> ALL($2::bigint[]) THEN s.types END AS types, ARRAY(SELECT type FROM task_types WHERE outside) AS outside
  FROM (SELECT types_hash, count(*)::int AS services, (array_agg(id))[1] AS id FROM task_services
        WHERE pool = $1 AND workers > 0 AND ${TASK_SERVICE_LIVES} GROUP BY types_hash) g JOIN task_services s USING (id)`);

const ENDED = { table: "ended_tasks", columns: ENDED_COLUMNS };

/** Indexes: tasks_newest, tasks_of_type, tasks_in_flight, ended_tasks_of_type, ended_tasks_of_pool, ended_tasks_by_status. */
const TASKS: LiveAndEnded = {
  live: { table: "tasks", columns: LIVE_COLUMNS, parts: [WAITING, IN_FLIGHT] },
  ended: ENDED,
  overStatuses: TASK_OVER_STATUSES,
  maxCount: MAX_TASK_COUNT,
  large: ["params", "output", "last_error", "story"],
};

/** Where neither type nor pool is asked for: there is no index of all that are over, as each end would write it, but one by status. */
const TASKS_OF_ALL: LiveAndEnded = { ...TASKS, ended: { ...ENDED, parts: TASK_OVER_STATUSES.map((status) => [status]) } };

/**
 * Those that run on services: what somebody has taken is apart in the index, and all others are in no part of it. So what is read does not grow
 * with what waits, or has ended. Index: tasks_in_flight.
 */
const TASKS_ON_SERVICES: LiveAndEnded = { ...TASKS, live: { ...TASKS.live, parts: [["Running"]] }, ended: undefined };

/** Whether it was Sent as it was created: no claim has counted it, and it leaves a dead row all the same. */
const isSent = (outcome: InsertOutcome): boolean => outcome.kind === "created" && outcome.sendId !== null;

interface LockedRow {
  status: string;
  pool: string;
  sendId: SendId;
  priority: number;
  isToCancel: boolean;
}

/** A creation is checked against these. */
type TaskType = Pick<TaskTypeInfo, "type" | "paramsSchema">;
type LiveTypesRow = TypesRow<TaskType> & { services: number; outside: string[] };

export class PostgresTaskStore implements TaskStore, TaskTypeStore, LivePools {
  readonly #dataSource: DataSource;
  readonly #types = new TypesByHash<TaskType>();
  readonly #vacuum: Vacuum;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#vacuum = new Vacuum(dataSource, "tasks");
  }

  async insert(tasks: Creation[], sending?: AtOnce): Promise<InsertOutcome[]> {
    const write = () =>
      transact(this.#dataSource, async (tx, unawaited) =>
        countCreated(tx, tasks, await insertBeside(tx, tasks, unawaited, sending), unawaited),
      );
    // The ledger may lock two of the tasks that have these keys the other way round.
    const outcomes = await againAfterDeadlock(write).catch(rethrowRefused);
    if (sending !== undefined) this.#vacuum.changed(outcomes.filter(isSent).length);
    return outcomes;
  }

  async find(id: TaskId): Promise<TaskView | undefined> {
    return await viewOf(this.#dataSource, id);
  }

  async findOver(ids: TaskId[]): Promise<TaskId[]> {
    const rows = await this.#dataSource.query<{ id: TaskId }[]>(ENDED_AMONG, [ids]);
    return rows.map(({ id }) => id);
  }

  async list(query: TaskQuery): ReturnType<TaskStore["list"]> {
    const ofKind = query.type === undefined && query.pool === undefined ? TASKS_OF_ALL : TASKS;
    const of = query.service === undefined ? ofKind : TASKS_ON_SERVICES;
    const { rows, ...page } = await listNewest<TaskRow>(this.#dataSource, of, query, () => conditionsOf(query));
    return { ...page, items: await viewsOf(this.#dataSource, rows) };
  }

  cancel(id: TaskId, action: Action): ReturnType<TaskStore["cancel"]> {
    return this.#write(async (tx) => {
      const [live] = await tx.query<LockedRow[]>(LOCK, [id]);
      if (live === undefined) return { kind: (await viewOf(tx, id)) === undefined ? "not-found" : "was-over" } as const;
      const isRunning = live.status === "Running";
      await tx.query(isRunning ? REQUEST_CANCEL : CANCELLED_BY, [[id], cancelledBy(action)]);
      if (!isRunning || live.isToCancel) await recordActions(tx, [doneToTasks(action, [id])]);
      const refuse = await refusalsOf(tx, live.status === "Sent" ? [{ id, ...live }] : []);
      return { kind: isRunning ? "ordered" : "over", task: (await viewOf(tx, id)) as TaskView, refuse } as const;
    });
  }

  change(id: TaskId, { priority }: ChangeTask, action: Action): ReturnType<TaskStore["change"]> {
    return this.#write(async (tx) => {
      const [live] = await tx.query<LockedRow[]>(LOCK, [id]);
      if (live !== undefined && live.priority !== priority) {
        await tx.query(PRIORITY, [id, priority]);
        await recordActions(tx, [doneToTasks(action, [id])]);
      }
      const task = await viewOf(tx, id);
      if (task === undefined) return { kind: "not-found" } as const;
      return live === undefined ? ({ kind: "was-over" } as const) : ({ kind: "changed", task } as const);
    });
  }

  retry(id: TaskId, action: Action): ReturnType<TaskStore["retry"]> {
    return this.#write(async (tx) => {
      const [live] = await tx.query<LockedRow[]>(LOCK, [id]);
      const before = live === undefined ? await viewOf(tx, id) : undefined;
      if (live === undefined && before === undefined) return { kind: "not-found" } as const;
      const mayBe = live === undefined ? before?.status !== "Completed" : live.status === "Scheduled";
      if (!mayBe) return { kind: "not-retryable" } as const;
      if (before?.flow) return { kind: "of-flow", flowId: before.flow.id } as const;
      if (before === undefined) await tx.query(MAKE_DUE, [[id]]);
      const revival = before && (await reviveOne(tx, before));
      if (revival?.kind === "key-taken" || revival?.kind === "held-up") return revival;
      // Two retried it at once: the other one has revived it, and it may be Sent by now.
      if (revival?.kind !== "gone") await recordActions(tx, [doneToTasks(action, [id])]);
      return { kind: "retried", task: (await viewOf(tx, id)) as TaskView } as const;
    });
  }

  /** The ledger may lock what this does the other way round. */
  #write<Result>(work: (tx: EntityManager) => Promise<Result>): Promise<Result> {
    return againAfterDeadlock(() => this.#dataSource.transaction(work));
  }

  async thereAmong(ids: TaskId[]): Promise<TaskId[]> {
    const rows = await this.#dataSource.query<{ id: TaskId }[]>(THERE_AMONG, [ids]);
    return rows.map(({ id }) => id);
  }

  async liveTypes(pool: string): ReturnType<TaskTypeStore["liveTypes"]> {
    const rows = await this.#types.read((known) => this.#dataSource.query<LiveTypesRow[]>(LIVE_TYPES, [pool, known]));
    return {
      services: rows.reduce((sum, row) => sum + row.services, 0),
      types: rows.flatMap((row) => row.types),
      outside: rows[0]?.outside ?? [],
    };
  }

  livePools(): Promise<LivePool[]> {
    return livePools(this.#dataSource);
  }
}

export function conditionsOf({ statuses, type, pool, service, idStart }: Omit<TaskQuery, "limit" | "after">): SqlConditions {
  const conditions = new SqlConditions();
  if (statuses !== undefined) conditions.and("status = ANY(?)", statuses);
  if (type !== undefined) conditions.and("type = ?", type);
  if (pool !== undefined) conditions.and("pool = ?", pool);
  if (service !== undefined) andOnService(conditions.and("lease_until IS NULL"), "service_id", service);
  if (idStart !== undefined) {
    const digits = idStart.replaceAll("-", "");
    conditions.and("id BETWEEN ?::uuid AND ?::uuid", digits.padEnd(32, "0"), digits.padEnd(32, "f"));
  }
  return conditions;
}

/** What a story says of a cancel. */
export const cancelledBy = ({ by: { name, authentication, requestId } }: Action): string =>
  JSON.stringify({ cancelled: { by: authentication === "schedule" ? `schedule ${name}` : name, requestId } });

export async function viewOf(db: DataSource | EntityManager, id: TaskId): Promise<TaskView | undefined> {
  const [view] = await viewsOf(db, await db.query<TaskRow[]>(FIND_ONE, [[id]]));
  return view;
}
