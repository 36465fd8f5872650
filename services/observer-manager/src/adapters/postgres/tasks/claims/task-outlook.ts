import type { DataSource } from "typeorm";
import type { TaskQueueStore } from "../../../../operations/tasks/dispatch/task-queue-store.ts";
import { intSum } from "../../statements/int-sum.ts";
import { Looks } from "../../statements/looks.ts";
import { prepared } from "../../statements/prepared.ts";
import { ANNOUNCED, TAKING } from "../task-services.ts";
import { IS_CANCEL_DUE } from "./cancels-due.ts";
import { IS_LIMITED } from "./claim-terms.ts";
import type { PoolFloors } from "./pool-floors.ts";

/** Index: tasks_scheduled. What is due and locked by somebody is left to him, or to the next time. */
const PROMOTE = prepared(`
  WITH due AS (
    UPDATE tasks SET status = 'Ready' WHERE id = ANY(ARRAY(
      SELECT id FROM tasks WHERE status = 'Scheduled' AND due_at <= unacked_now() ORDER BY due_at LIMIT $1
      FOR UPDATE SKIP LOCKED)) RETURNING id)
  SELECT (SELECT count(*)::int FROM due) AS promoted, (
    SELECT extract(epoch FROM min(due_at) - unacked_now())::float8 * 1000 FROM tasks
    WHERE status = 'Scheduled' AND due_at > unacked_now()) AS "nextDueInMs"`);

/** Index: tasks_scheduled. */
const NEXT_SCHEDULED =
  "SELECT extract(epoch FROM min(due_at) - unacked_now())::float8 * 1000 FROM tasks WHERE status = 'Scheduled'";

/** A handful of rows. */
const SERVED_POOLS = prepared(`
  SELECT k.pool, ${intSum("k.workers")} AS workers, jsonb_agg(jsonb_path_query_array(s.type_facts, '$[*].type')) AS types,
    bool_or(EXISTS (SELECT FROM task_types l WHERE ${IS_LIMITED} AND s.type_facts @> jsonb_build_array(jsonb_build_object('type', l.type)))) AS "isLimited"
  FROM ${TAKING} GROUP BY k.pool`);

/** Index: tasks_ready, once for each pool, from $2 on in the pools $1; without an order all rows might be read to find none. */
const WAITING_POOLS = prepared(`
  SELECT k.pool, ${intSum("k.workers")} AS workers, jsonb_agg(jsonb_path_query_array(s.type_facts, '$[*].type')) AS types
  FROM ${TAKING} LEFT JOIN unnest($1::text[], $2::timestamptz[]) AS f (pool, ready_from) ON f.pool = k.pool
  GROUP BY k.pool, ready_from HAVING (
    SELECT true FROM tasks t WHERE t.pool = k.pool AND t.status = 'Ready' AND t.due_at >= coalesce(ready_from, '-infinity') ORDER BY priority DESC, due_at, id LIMIT 1)`);

/** A handful of rows. */
const PACES = `${ANNOUNCED} HAVING bool_or(s.means ? (t->>'type') OR t ? 'batch')`;

interface PoolRow {
  pool: string;
  workers: number;
  types: string[][];
}

type ServedRow = PoolRow & { isLimited: boolean };

type PaceRow = Awaited<ReturnType<TaskQueueStore["paces"]>>[number];

const poolsOf = <Row extends PoolRow>(rows: Row[]) => rows.map((row) => ({ ...row, types: [...new Set(row.types.flat())] }));

/** What waits, what comes due, and who is there to take it. */
export class TaskOutlook {
  readonly #dataSource: DataSource;
  readonly #looks: Looks;
  readonly #floors: PoolFloors;

  constructor(dataSource: DataSource, floors: PoolFloors) {
    this.#dataSource = dataSource;
    this.#looks = Looks.of(dataSource);
    this.#floors = floors;
  }

  /** All of it, mostly to find nothing: asked together with what others look at in that moment. */
  async look(): ReturnType<TaskQueueStore["outlook"]> {
    const [nextDueInMs, waiting, isCancelDue, paces, served] = await Promise.all([
      this.#looks.ask<number | null>(NEXT_SCHEDULED),
      this.#looks.askRows(WAITING_POOLS, this.#floors.readyFrom()),
      this.#looks.ask<boolean>(IS_CANCEL_DUE),
      this.#looks.askRows<PaceRow>(PACES),
      this.#looks.askRows<ServedRow>(SERVED_POOLS),
    ]);
    return { isAnyReady: waiting.length > 0, isCancelDue, nextDueInMs, paces, servedPools: poolsOf(served) };
  }

  async promoteDue(limit: number): ReturnType<TaskQueueStore["promoteDue"]> {
    const [row] = await this.#query<Awaited<ReturnType<TaskQueueStore["promoteDue"]>>>(PROMOTE, [limit]);
    return row ?? { promoted: 0, nextDueInMs: null };
  }

  async waitingPools(): ReturnType<TaskQueueStore["waitingPools"]> {
    return poolsOf(await this.#query<PoolRow>(WAITING_POOLS, this.#floors.readyFrom()));
  }

  async servedPools(): ReturnType<TaskQueueStore["servedPools"]> {
    return poolsOf(await this.#query<ServedRow>(SERVED_POOLS));
  }

  paces(): ReturnType<TaskQueueStore["paces"]> {
    return this.#dataSource.query(PACES);
  }

  #query<Row>(text: string, parameters: unknown[] = []): Promise<Row[]> {
    return this.#dataSource.query(text, parameters);
  }
}
