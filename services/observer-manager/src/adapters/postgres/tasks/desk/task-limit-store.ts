import { isDeepStrictEqual } from "node:util";
import type { TaskTypeView } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import { isUnlimited, NO_LIMITS, type TaskLimits } from "../../../../domain/tasks/task-limits.ts";
import { type Action, doneToTaskType } from "../../../../operations/access/audit.ts";
import type { TaskLimitStore } from "../../../../operations/tasks/desk/task-type-desk.ts";
import { recordActions } from "../../access/audit-rows.ts";
import { rethrowRefused } from "../../statements/refused.ts";
import { COUNTED } from "../claims/claim-terms.ts";
import { TASK_SERVICE_LIVES } from "../task-services.ts";
import { isOfType } from "../views/task-view.ts";

/**
 * Claims lock rows of this table, and so wait for the end of the change; and it waits for the claims under way, some milliseconds.
 * Reads do neither. A manager that is frozen in the middle holds claims up for two seconds.
 */
const ALONE = ["SET LOCAL idle_in_transaction_session_timeout = '2s'", "LOCK TABLE task_types IN EXCLUSIVE MODE"];

const LIMITS =
  'paused, max_running AS "maxRunning", min_running AS "minRunning", rate_per_second AS "ratePerSecond", outside';
const FIND = `SELECT ${LIMITS} FROM task_types WHERE type = $1`;

/** Whether a service has it, or had it an hour or two ago, or a task of it waits or is in flight. */
const IS_KNOWN = `
  SELECT EXISTS (SELECT FROM task_services WHERE type_facts @> jsonb_build_array(jsonb_build_object('type', $1::text)))
      OR ${isOfType("$1")} AS known`;

const FORGET = "DELETE FROM task_types WHERE type = $1";
const KEEP = `
  INSERT INTO task_types (type, paused, max_running, min_running, rate_per_second, outside) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (type) DO UPDATE SET paused = excluded.paused, max_running = excluded.max_running,
    min_running = excluded.min_running, rate_per_second = excluded.rate_per_second, outside = excluded.outside, changed_at = now()`;

/** Reads a handful of services and limits, and what is in flight. Index: tasks_in_flight. @param which as SQL */
const views = (which: string): string => `
  WITH announced AS (
    SELECT t.info ->> 'type' AS type, count(DISTINCT s.id)::int AS services
    FROM task_services s, jsonb_array_elements(s.type_facts) AS t (info) WHERE s.workers > 0 AND s.${TASK_SERVICE_LIVES} GROUP BY 1
  ), flight AS (
    SELECT type, (${COUNTED})::int AS count FROM tasks t WHERE status IN ('Sent', 'Running') GROUP BY type)
  SELECT type, coalesce(l.paused, false) AS paused, l.max_running AS "maxRunning", coalesce(l.min_running, 0) AS "minRunning",
    l.rate_per_second AS "ratePerSecond", coalesce(l.outside, false) AS outside, coalesce(f.count, 0) AS "inFlight", coalesce(a.services, 0) AS services,
    l.changed_at AS "changedAt"
  FROM (SELECT type FROM announced UNION SELECT type FROM task_types ${which}) known
  LEFT JOIN task_types l USING (type) LEFT JOIN announced a USING (type) LEFT JOIN flight f USING (type)`;

const LIST = `${views("")} ORDER BY type`;
const VIEW = `${views("UNION SELECT $1")} WHERE type = $1`;

type Row = Omit<TaskTypeView, "changedAt"> & { changedAt: Date | null };

export class PostgresTaskLimitStore implements TaskLimitStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async list(): Promise<TaskTypeView[]> {
    return (await this.#dataSource.query<Row[]>(LIST)).map(toView);
  }

  async change<Refused>(
    type: string,
    decide: (before: TaskLimits) => { after: TaskLimits } | { refused: Refused },
    action: Action,
  ): Promise<{ view: TaskTypeView } | { refused: Refused } | undefined> {
    const change = async (tx: EntityManager) => {
      for (const statement of ALONE) await tx.query(statement);
      const [before] = await tx.query<TaskLimits[]>(FIND, [type]);
      const decision = decide(before ?? NO_LIMITS);
      // To say of a type that it is worked outside makes it known.
      const isNew = "after" in decision && decision.after.outside;
      if (before === undefined && !isNew && !(await isKnown(tx, type))) return undefined;
      if ("refused" in decision) return decision;
      if (!isDeepStrictEqual(before ?? NO_LIMITS, decision.after)) {
        await write(tx, type, decision.after);
        await recordActions(tx, [doneToTaskType(action, type)]);
      }
      const [row] = await tx.query<Row[]>(VIEW, [type]);
      return { view: toView(row as Row) };
    };
    return await this.#dataSource.transaction(change).catch(rethrowRefused);
  }
}

async function write(tx: EntityManager, type: string, limits: TaskLimits): Promise<void> {
  const { paused, maxRunning, minRunning, ratePerSecond, outside } = limits;
  if (isUnlimited(limits)) await tx.query(FORGET, [type]);
  else await tx.query(KEEP, [type, paused, maxRunning, minRunning, ratePerSecond, outside]);
}

async function isKnown(tx: EntityManager, type: string): Promise<boolean> {
  const [row] = await tx.query<{ known: boolean }[]>(IS_KNOWN, [type]);
  return row?.known ?? false;
}

const toView = ({ changedAt, ...row }: Row): TaskTypeView => ({ ...row, changedAt: changedAt?.toISOString() ?? null });
