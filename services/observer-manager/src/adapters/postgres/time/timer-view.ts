import type { TimerId, TimerView } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";

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

/** Of `timers`, and the same of `ended_timers`, so that both are one list. */
export const LIVE_COLUMNS = `${COMMON}, next_at, NULL::timestamptz AS ended_at`;
export const ENDED_COLUMNS = `${COMMON}, NULL::timestamptz AS next_at, ended_at`;

/** Indexes: timers_pkey, ended_timers_pkey. One statement: what moves from one to the other is found once. */
const FIND = `
  SELECT ${LIVE_COLUMNS} FROM timers WHERE id = ANY($1)
  UNION ALL SELECT ${ENDED_COLUMNS} FROM ended_timers WHERE id = ANY($1)`;

/** `gone`: rows that were taken out of `timers`. */
export const keepEnded = (gone: string, status: "Fired" | "Cancelled" | "Expired"): string => `
  INSERT INTO ended_timers (id, name, payload, due_at, expires_at, status, returns, last_problem, created_at, ended_at)
  SELECT id, name, payload, due_at, expires_at, '${status}', returns, last_problem, created_at, unacked_now() FROM ${gone}`;

/** Whether a name begins like one of these, which are JSON; null: any does. */
export const isWithin = (name: string, within: string): string =>
  `(${within} IS NULL OR EXISTS (SELECT FROM jsonb_array_elements_text(${within}) AS w (prefix) WHERE starts_with(${name}, prefix)))`;

export const withinOf = ({ within }: { within?: readonly string[] | undefined }): string | null =>
  within === undefined ? null : JSON.stringify(within);

export async function timersOf(db: DataSource | EntityManager, ids: readonly TimerId[]): Promise<Map<string, TimerView>> {
  const rows = await db.query<TimerRow[]>(FIND, [ids]);
  return new Map(rows.map((row) => [row.id, toTimerView(row)]));
}

export function toTimerView(row: TimerRow): TimerView {
  const { id, name, payload, status, returns } = row;
  return {
    id,
    name,
    at: row.due_at.toISOString(),
    payload,
    status,
    expiresAt: row.expires_at.toISOString(),
    returns,
    lastProblem: row.last_problem,
    nextTryAt: row.next_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}
