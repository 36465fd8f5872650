import type { TimerId, TimerView } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import { shownTime, shownTimeOrNull } from "../../../domain/shown-time.ts";

export interface TimerRow {
  id: string;
  name: string;
  payload: unknown;
  due_at: Date;
  expires_at: Date;
  status: TimerView["status"];
  returns: number;
  last_problem: TimerView["lastProblem"];
  created_at: Date;
  next_at: Date | null;
  ended_at: Date | null;
}

const COMMON = "id, name, payload, due_at, expires_at, status, returns, last_problem, created_at";

/** The columns of timers that are not over, and the same of the others, so that both make one list. */
export const LIVE_COLUMNS = `${COMMON}, next_at, NULL::timestamptz AS ended_at`;
export const ENDED_COLUMNS = `${COMMON}, NULL::timestamptz AS next_at, ended_at`;

/** Timers that are being fired: their claim is there. Index: ended_timers_pkey. */
export const FIRING = `
  SELECT e.*, c.owner FROM timer_claims c CROSS JOIN unnest(c.ids) AS i (id) JOIN ended_timers e ON e.id = i.id AND e.claim_id = c.id`;

/** Columns that both tables have. */
const NOT_OVER = "id, name, payload, due_at, expires_at, returns, last_problem, created_at";

/** Timers that are not over, as a table. */
export const LIVE_TIMERS = `(
  SELECT ${NOT_OVER}, status, next_at FROM timers
  UNION ALL SELECT ${NOT_OVER}, 'Firing'::text AS status, ended_at AS next_at FROM (${FIRING}) firing) live_timers`;

const HAS_CLAIM = (of: string) => `EXISTS (SELECT FROM timer_claims c WHERE c.id = ${of}.claim_id)`;

/**
 * Whether a timer among the ended is over: nobody is firing it. It is looked up for each (IS TRUE), not joined: by a guess that few are
 * over, all were sorted.
 */
export const isOver = (of: string): string => `(NOT ${HAS_CLAIM(of)}) IS TRUE`;

/** Timers that are over, as a table. */
export const OVER_TIMERS = `(SELECT * FROM ended_timers e WHERE ${isOver("e")}) over_timers`;

/** Indexes: timers_pkey, ended_timers_pkey. One statement: what moves from one to the other is found once. */
const FIND = `
  SELECT ${LIVE_COLUMNS} FROM timers WHERE id = ANY($1)
  UNION ALL SELECT id, name, payload, due_at, expires_at, CASE WHEN firing THEN 'Firing' ELSE status END, returns, last_problem, created_at,
                   CASE WHEN firing THEN ended_at END, CASE WHEN NOT firing THEN ended_at END
    FROM (SELECT e.*, ${HAS_CLAIM("e")} AS firing FROM ended_timers e WHERE id = ANY($1)) ended`;

/** Finds them likewise, without what may be long. */
const FIND_SHORT = FIND.replaceAll(", payload,", ", NULL::jsonb AS payload,");

/** `gone`: rows that were taken out of `timers`. */
export const keepEnded = (gone: string, status: "Fired" | "Cancelled"): string => `
  INSERT INTO ended_timers (id, name, payload, due_at, expires_at, status, returns, last_problem, created_at, ended_at)
  SELECT id, name, payload, due_at, expires_at, '${status}', returns, last_problem, created_at, unacked_now() FROM ${gone}`;

/** Whether a name begins like one of these, which are JSON; null: any does. */
export const isWithin = (name: string, within: string): string =>
  `(${within} IS NULL OR EXISTS (SELECT FROM jsonb_array_elements_text(${within}) AS w (prefix) WHERE starts_with(${name}, prefix)))`;

export const withinOf = ({ within }: { within?: readonly string[] | undefined }): string | null =>
  within === undefined ? null : JSON.stringify(within);

export const timersOf = (db: DataSource | EntityManager, ids: readonly TimerId[]): Promise<Map<string, TimerView>> =>
  viewsOf(db, FIND, ids);

/** Their payloads are null. */
export const shortTimersOf: typeof timersOf = (db, ids) => viewsOf(db, FIND_SHORT, ids);

async function viewsOf(
  db: DataSource | EntityManager,
  sql: string,
  ids: readonly TimerId[],
): Promise<Map<string, TimerView>> {
  const rows = await db.query<TimerRow[]>(sql, [ids]);
  return new Map(rows.map((row) => [row.id, toTimerView(row)]));
}

export function toTimerView(row: TimerRow): TimerView {
  const { id, name, payload, status, returns } = row;
  return {
    id,
    name,
    at: shownTime(row.due_at),
    payload,
    status,
    expiresAt: shownTime(row.expires_at),
    returns,
    lastProblem: row.last_problem,
    nextTryAt: shownTimeOrNull(row.next_at),
    endedAt: shownTimeOrNull(row.ended_at),
    createdAt: shownTime(row.created_at),
  };
}
