import type { TaskId, Wanted } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { Definition } from "../../../domain/schedules/definition.ts";
import type { LaneName, ScheduleState, UnderWay } from "../../../operations/schedules/schedule-store.ts";

/** A row of STATE_COLUMNS. */
export interface StateRow {
  id: string;
  definition: Definition;
  createdAt: Date;
  version: number;
  isPaused: boolean;
  nextAt: Date | null;
  lastAt: Date | null;
  wanted: Wanted | null;
  changeAt: Date | null;
  problem: string | null;
  nowMs: number;
}

export const STATE_COLUMNS = `s.id, s.definition, s.created_at AS "createdAt", s.version, s.paused_at IS NOT NULL AS "isPaused", s.next_at AS "nextAt",
  s.last_at AS "lastAt", s.wanted, s.change_at AS "changeAt", s.problem, floor(extract(epoch FROM unacked_now()) * 1000)::float8 AS "nowMs"`;

/** Index: schedules_pkey. */
export const LOCK_ONE = `SELECT ${STATE_COLUMNS} FROM schedules s WHERE s.id = $1 FOR UPDATE`;

/** The lane of an occurrence, as SQL. */
export const LANE = "CASE cause WHEN 'backfill' THEN 'backfill' ELSE 'regular' END";

/** Closes occurrences whose task is over, and so not in `tasks`. Index: occurrences_open; tasks_pkey, one look each. */
const CLOSE = `
  UPDATE occurrences o SET open = false WHERE schedule_id = ANY($1) AND open
    AND (SELECT true FROM tasks t WHERE t.id = o.task_id) IS NULL`;
const OPEN = `
  SELECT schedule_id AS "scheduleId", ${LANE} AS lane, task_id AS "taskId" FROM occurrences
  WHERE schedule_id = ANY($1) AND open ORDER BY at`;

/** Index: occurrences_queued. */
const QUEUED = `
  SELECT schedule_id AS "scheduleId", ${LANE} AS lane, count(*)::int AS count FROM occurrences
  WHERE schedule_id = ANY($1) AND status = 'queued' GROUP BY 1, 2`;

export const toState = ({
  id,
  definition,
  createdAt,
  version,
  isPaused,
  wanted,
  nextAt,
  lastAt,
  changeAt,
  problem,
}: StateRow): ScheduleState => ({
  id,
  definition,
  createdMs: createdAt.getTime(),
  version,
  isPaused,
  wanted,
  nextMs: nextAt?.getTime() ?? null,
  lastMs: lastAt?.getTime() ?? null,
  changeMs: changeAt?.getTime() ?? null,
  problem,
});

/** What is under way of these schedules, whose rows are locked. */
export async function underWayOf(tx: EntityManager, ids: readonly string[]): Promise<(id: string) => UnderWay> {
  const found = new Map(ids.map((id) => [id, nothing()]));
  if (ids.length === 0) return nothing;
  await tx.query(CLOSE, [ids]);
  type Of<Row> = Row & { scheduleId: string; lane: LaneName };
  for (const { scheduleId, lane, taskId } of await tx.query<Of<{ taskId: TaskId }>[]>(OPEN, [ids]))
    found.get(scheduleId)?.[lane].running.push(taskId);
  for (const { scheduleId, lane, count } of await tx.query<Of<{ count: number }>[]>(QUEUED, [ids])) {
    const of = found.get(scheduleId);
    if (of !== undefined) of[lane].queued = count;
  }
  return (id) => found.get(id) ?? nothing();
}

const nothing = (): UnderWay => ({ regular: { running: [], queued: 0 }, backfill: { running: [], queued: 0 } });

export const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
