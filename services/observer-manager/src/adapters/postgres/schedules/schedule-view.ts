import {
  MAX_SCHEDULE_COUNT,
  type OccurrenceView,
  SCHEDULE_DEFAULTS,
  type ScheduleView,
  type TaskStatus,
} from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { Definition } from "../../../domain/schedules/definition.ts";
import { shownTime, shownTimeOrNull } from "../../../domain/shown-time.ts";
import type { OccurrenceQuery, ScheduleQuery } from "../../../operations/schedules/schedule-store.ts";
import { type CutRow, cutToBytes } from "../statements/page-bytes.ts";
import { escapeLike, SqlConditions, TIME_OF_MICROS } from "../statements/sql-conditions.ts";

type Db = DataSource | EntityManager;

interface OccurrenceRow {
  at: Date;
  status: OccurrenceView["status"];
  cause: OccurrenceView["cause"];
  reason: OccurrenceView["reason"];
  task_id: string | null;
  task_status: TaskStatus | null;
  wanted: "running" | "paused" | null;
  changed: number;
  late_ms: string;
  earlier_missed: number;
  asked_by: string | null;
  version: number;
  decided_at: Date;
}

interface ScheduleRow {
  id: string;
  definition: Definition;
  version: number;
  next_at: Date | null;
  due_at: Date | null;
  wanted: "running" | "paused" | null;
  paused_at: Date | null;
  paused_by: string | null;
  missed: string;
  problem: string | null;
  created_at: Date;
  updated_at: Date;
  running: number;
  queued: number;
  last: (Omit<OccurrenceRow, "at" | "decided_at"> & { at: string; decided_at: string }) | null;
}

/** The status of `schedules s`, as SQL. Paused and Over are not due. */
const STATUS = "CASE WHEN s.paused_at IS NOT NULL THEN 'Paused' WHEN s.due_at IS NULL THEN 'Over' ELSE 'Active' END";

/** Indexes: tasks_pkey, ended_tasks_by_id. */
const OCCURRENCE_COLUMNS = `o.at, o.status, o.cause, o.reason, o.task_id, o.wanted, o.changed, o.late_ms, o.earlier_missed, o.asked_by,
  o.version, o.decided_at, CASE WHEN o.status = 'started' THEN coalesce((SELECT t.status FROM tasks t WHERE t.id = o.task_id),
    (SELECT t.status FROM ended_tasks t WHERE t.id = o.task_id LIMIT 1)) END AS task_status`;

/**
 * `open` is only reset when the next time is decided, so `tasks` is asked, too: a task that is over is not there any more.
 * Indexes: occurrences_open, tasks_pkey, occurrences_queued, occurrences_pkey, ended_tasks_by_id.
 */
const COLUMNS = `s.*,
  (SELECT count(*)::int FROM occurrences o WHERE o.schedule_id = s.id AND o.open
     AND (SELECT true FROM tasks t WHERE t.id = o.task_id)) AS running,
  (SELECT count(*)::int FROM occurrences o WHERE o.schedule_id = s.id AND o.status = 'queued') AS queued,
  (SELECT to_jsonb(l) FROM (SELECT ${OCCURRENCE_COLUMNS} FROM occurrences o
     WHERE o.schedule_id = s.id ORDER BY o.at DESC LIMIT 1) l) AS last`;

/** Index: schedules_pkey. */
const FIND = `SELECT ${COLUMNS} FROM schedules s WHERE s.id = $1`;

/** Index: occurrences_pkey. */
const FIND_OCCURRENCE = `SELECT ${OCCURRENCE_COLUMNS} FROM occurrences o WHERE o.schedule_id = $1 AND o.at = $2`;

export async function scheduleOf(db: Db, id: string): Promise<ScheduleView | undefined> {
  const [row] = await db.query<ScheduleRow[]>(FIND, [id]);
  return row && toScheduleView(row);
}

/** They are ordered by id. */
export async function listSchedules(db: Db, query: ScheduleQuery) {
  const [rows, total] = await Promise.all([page(db, query), count(db, query)]);
  const shown = rows.slice(0, query.limit);
  return {
    items: shown.map(toScheduleView),
    total: Math.min(total, MAX_SCHEDULE_COUNT),
    isTotalExact: total <= MAX_SCHEDULE_COUNT,
    ...((rows[0]?.found ?? 0) > shown.length && { last: (shown.at(-1) as ScheduleRow).id }),
  };
}

function page(db: Db, query: ScheduleQuery): Promise<(ScheduleRow & CutRow)[]> {
  const conditions = conditionsOf(query);
  if (query.after !== undefined) conditions.and("s.id > ?", query.after);
  const most = conditions.parameter(query.limit + 1);
  const sql = `SELECT ${COLUMNS} FROM schedules s ${conditions.where} ORDER BY s.id LIMIT ${most}`;
  return db.query<(ScheduleRow & CutRow)[]>(cutToBytes(sql, ["definition"], "id"), conditions.parameters);
}

async function count(db: Db, query: ScheduleQuery): Promise<number> {
  const conditions = conditionsOf(query);
  const most = conditions.parameter(MAX_SCHEDULE_COUNT + 1);
  const sql = `SELECT count(*)::int AS total FROM (SELECT 1 FROM schedules s ${conditions.where} LIMIT ${most}) found`;
  const [row] = await db.query<{ total: number }[]>(sql, conditions.parameters);
  return row?.total ?? 0;
}

function conditionsOf({ statuses, type, q }: ScheduleQuery): SqlConditions {
  const conditions = new SqlConditions();
  if (statuses !== undefined) conditions.and(`${STATUS} = ANY(?)`, statuses);
  if (type !== undefined) conditions.and("s.type = ?", type);
  if (q !== undefined) conditions.and("s.id ILIKE ?", `%${escapeLike(q)}%`);
  return conditions;
}

export async function findOccurrence(db: Db, id: string, atMs: number): Promise<OccurrenceView | undefined> {
  const [row] = await db.query<OccurrenceRow[]>(FIND_OCCURRENCE, [id, new Date(atMs).toISOString()]);
  return row && toOccurrenceView(row);
}

/** The newest first. Index: occurrences_pkey. */
export async function listOccurrences(db: Db, id: string, { statuses, limit, afterMicros }: OccurrenceQuery) {
  const conditions = new SqlConditions().and("o.schedule_id = ?", id);
  if (statuses !== undefined) conditions.and("o.status = ANY(?)", statuses);
  if (afterMicros !== undefined) conditions.and(`o.at < ${TIME_OF_MICROS}`, afterMicros);
  const most = conditions.parameter(limit + 1);
  const sql = `SELECT ${OCCURRENCE_COLUMNS} FROM occurrences o ${conditions.where} ORDER BY o.at DESC LIMIT ${most}`;
  const rows = await db.query<OccurrenceRow[]>(sql, conditions.parameters);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  // Times are whole milliseconds.
  return { items: shown.map(toOccurrenceView), ...(last && { lastMicros: String(last.at.getTime() * 1_000) }) };
}

function toOccurrenceView(row: OccurrenceRow): OccurrenceView {
  return {
    at: shownTime(row.at),
    status: row.status,
    cause: row.cause,
    reason: row.reason,
    taskId: row.task_id,
    taskStatus: row.task_status,
    observers: row.wanted === null ? null : { wanted: row.wanted, changed: row.changed },
    lateMs: Number(row.late_ms),
    earlierMissed: row.earlier_missed,
    by: row.asked_by,
    version: row.version,
    decidedAt: shownTime(row.decided_at),
  };
}

function toScheduleView(row: ScheduleRow): ScheduleView {
  const { definition, last } = row;
  const status = row.paused_at !== null ? "Paused" : row.due_at === null ? "Over" : "Active";
  const nextAt = shownTimeOrNull(row.next_at);
  return {
    id: row.id,
    description: definition.description,
    status,
    ...partsOf(definition),
    keep: definition.keep,
    version: row.version,
    nextAt,
    nextDueAt: definition.kind === "observers" ? nextAt : shownTimeOrNull(row.due_at),
    wantedNow: status === "Active" ? row.wanted : null,
    running: row.running,
    queued: row.queued,
    missed: Number(row.missed),
    problem: row.problem,
    lastOccurrence:
      last === null ? null : toOccurrenceView({ ...last, at: new Date(last.at), decided_at: new Date(last.decided_at) }),
    pausedAt: shownTimeOrNull(row.paused_at),
    pausedBy: row.paused_by,
    createdAt: shownTime(row.created_at),
    updatedAt: shownTime(row.updated_at),
  };
}

/** The definition in the words of the request. */
function partsOf(definition: Definition) {
  if (definition.kind === "observers") {
    const { hours, except, timeZone } = definition.hours;
    const { timeZone: _, ...defaults } = SCHEDULE_DEFAULTS;
    const none = { cron: null, everyMs: null, startAt: null, endAt: null, task: null };
    return { ...none, ...defaults, hours: [...hours], except: [...except], timeZone, observers: definition.observers };
  }
  const { timing, overlap, catchUp, catchUpWindowMs, catchUpMax, task } = definition;
  const { rhythm, startAt, endAt, jitterMs } = timing;
  return {
    cron: "cron" in rhythm ? rhythm.cron : null,
    everyMs: "cron" in rhythm ? null : rhythm.everyMs,
    timeZone: "cron" in rhythm ? rhythm.timeZone : SCHEDULE_DEFAULTS.timeZone,
    hours: null,
    except: null,
    startAt: startAt === null ? null : shownTime(Date.parse(startAt)),
    endAt: endAt === null ? null : shownTime(Date.parse(endAt)),
    ...{ jitterMs, overlap, catchUp, catchUpWindowMs, catchUpMax, task },
    observers: null,
  };
}
