import type { DataSource } from "typeorm";
import { describeDatabaseError, sqlStateOf } from "../connection/database-error.ts";

/**
 * Whether a schedule `s` of observers is to be looked at. Each is looked at within a minute, so that one that is due later was planned by a
 * clock that has been set back since.
 */
export const LOOK_IS_DUE = `s.kind = 'observers' AND (s.due_at <= unacked_now() OR s.due_at > unacked_now() + interval '2 minutes')`;

/** Index: schedules_pkey. */
const PUT_OFF = `
  UPDATE schedules s SET due_at = unacked_now() + $2::float8 * interval '1 second', problem = $3
  WHERE id = $1 AND (due_at <= unacked_now() OR ${LOOK_IS_DUE})`;
/** A problem that lasts is tried again after so long, as is a schedule whose expression cannot be read. */
const PROBLEM_AGAIN_S = 60;
/** A problem that passes by itself is tried again after so long: a deadlock, or something took too long. */
const PASSING_AGAIN_S = 5;

/** A schedule that cannot be handled must not be in the way of the others. Its row says why, and is due again soon. */
export async function putOff(dataSource: DataSource, id: string, error: unknown): Promise<void> {
  const { unavailable } = describeDatabaseError(error);
  const state = sqlStateOf(error);
  const said = String((error as Error).message).slice(0, 500);
  const problem = state === undefined ? said : `PostgreSQL ends it (SQLSTATE ${state})`;
  await dataSource.query(PUT_OFF, [id, unavailable ? PASSING_AGAIN_S : PROBLEM_AGAIN_S, problem]);
}
