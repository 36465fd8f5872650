import type { TaskId, TaskView } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import { type Action, doneToTasks } from "../../../../operations/access/audit.ts";
import type {
  AlikeFailures,
  FailedTask,
  FailureFilter,
  TaskFailureStore,
} from "../../../../operations/tasks/desk/task-failure-store.ts";
import type { TaskStore } from "../../../../operations/tasks/desk/task-store.ts";
import { recordActions } from "../../access/audit-rows.ts";
import { againAfterDeadlock } from "../../statements/deadlock.ts";
import { rethrowRefused } from "../../statements/refused.ts";
import { type SqlConditions, TIME_OF_MICROS } from "../../statements/sql-conditions.ts";
import { conditionsOf, viewOf } from "./postgres-task-store.ts";
import { MAY_RUN_AGAIN, reviveOne } from "./task-revival.ts";

/** More of an error's text tells nothing about its kind (domain/errors/error-group.ts). */
const MAX_READ = 2_000;
const NAME = "coalesce(last_error ->> 'name', '')";
const MESSAGE = `left(coalesce(last_error ->> 'message', ''), ${MAX_READ})`;

const LOCK = "SELECT status FROM tasks WHERE id = $1 FOR UPDATE";

/**
 * Keeps the former params, unless they are too long, and who has changed them. Index: tasks_pkey. @param $4 what is kept of older
 * changes
 */
const EDIT = `
  UPDATE tasks t SET params = $2::jsonb, status = 'Ready', due_at = least(due_at, unacked_now()), failures = 0, crashes = 0,
    story = coalesce(story, '{}') || jsonb_build_object('edits', $4::jsonb || jsonb_build_object(
      'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'by', $3::text,
      'before', CASE WHEN octet_length(t.params::text) <= 16384 THEN t.params ELSE 'null' END))
  WHERE id = $1`;
/** So many older changes are kept. */
const OLDER = 4;

/** Indexes: ended_tasks_by_status, ended_tasks_of_type. */
export class PostgresTaskFailureStore implements TaskFailureStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  alike(filter: FailureFilter, limit: number): Promise<AlikeFailures[]> {
    const { sql, parameters } = newest(failed(filter), limit);
    return this.#dataSource.query(
      `SELECT type, name, message, count(*)::int AS count, min(ended_at) AS "firstEndedAt", max(ended_at) AS "lastEndedAt",
              (array_agg(id ORDER BY created_at DESC, id DESC))[1] AS "newestId",
              extract(epoch FROM max(created_at))::float8 * 1000 AS "newestAtMs"
       FROM (${sql}) newest GROUP BY type, name, message`,
      parameters,
    );
  }

  errorsOf(type: string, limit: number, after?: FailedTask): Promise<FailedTask[]> {
    const conditions = failed({ type }).and(MAY_RUN_AGAIN);
    if (after !== undefined)
      conditions.and(`(created_at, id) < (${TIME_OF_MICROS}, ?::uuid)`, after.createdAtMicros, after.id);
    const { sql, parameters } = newest(conditions, limit);
    return this.#dataSource.query(
      `SELECT id, (extract(epoch FROM created_at) * 1000000)::bigint::text AS "createdAtMicros", name, message
       FROM (${sql}) newest ORDER BY created_at DESC, id DESC`,
      parameters,
    );
  }

  find(id: TaskId): Promise<TaskView | undefined> {
    return viewOf(this.#dataSource, id);
  }

  retryWith(id: TaskId, params: unknown, action: Action): ReturnType<TaskStore["retry"]> {
    const write = async (tx: EntityManager): ReturnType<TaskStore["retry"]> => {
      const [live] = await tx.query<{ status: string }[]>(LOCK, [id]);
      const before = await viewOf(tx, id);
      if (before === undefined) return { kind: "not-found" };
      const mayBe = live === undefined ? before.status !== "Completed" : live.status === "Scheduled";
      if (!mayBe) return { kind: "not-retryable" };
      if (live === undefined && before.flow !== null) return { kind: "of-flow", flowId: before.flow.id };
      const revival = live === undefined ? await reviveOne(tx, before) : undefined;
      if (revival?.kind === "key-taken" || revival?.kind === "held-up") return revival;
      // Two retried it at once: the other one has revived it, and these params would be of a task that somebody is at.
      if (revival?.kind === "gone") return { kind: "not-retryable" };
      const older = JSON.stringify((before.edits ?? []).slice(-OLDER));
      await tx.query(EDIT, [id, JSON.stringify(params), action.by.name, older]);
      await recordActions(tx, [doneToTasks(action, [id])]);
      return { kind: "retried", task: (await viewOf(tx, id)) as TaskView };
    };
    // Who runs many again may have its key, and wait for it.
    return againAfterDeadlock(() => this.#dataSource.transaction(write)).catch(rethrowRefused);
  }
}

const failed = (filter: FailureFilter): SqlConditions => conditionsOf({ ...filter, statuses: ["Failed"] });

function newest(conditions: SqlConditions, limit: number): { sql: string; parameters: unknown[] } {
  const mark = conditions.parameter(limit);
  const columns = `type, id, created_at, ended_at, ${NAME} AS name, ${MESSAGE} AS message`;
  const sql = `SELECT ${columns} FROM ended_tasks ${conditions.where} ORDER BY created_at DESC, id DESC LIMIT ${mark}`;
  return { sql, parameters: conditions.parameters };
}
