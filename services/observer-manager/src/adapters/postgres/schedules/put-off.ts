import type { DataSource } from "typeorm";
import { describeDatabaseError, sqlStateOf } from "../connection/database-error.ts";

/**
 * A schedule of observers is to be looked at: each is again within a minute, so that one that is due later was planned by a clock that has been
 * set back since. Of `schedules s`.
 */
export const LOOK_IS_DUE = `s.kind = 'observers' AND (s.due_at <= unacked_now() OR s.due_at > unacked_now() + interval '2 minutes')`;

/** Index: schedules_pkey. */
const PUT_OFF = `
  UPDATE schedules s SET due_at = unacked_now() + $2::float8 * interval '1 second', problem = $3
  WHERE id = $1 AND (due_at <= unacked_now() OR ${LOOK_IS_DUE})`;
/** As one whose expression cannot be read. */
const PROBLEM_AGAIN_S = 60;
/** Of what passes by itself: another one was chosen by a deadlock, or something took too long. */
const PASSING_AGAIN_S = 5;

/** What cannot be done about a schedule must not be in the way of the others. It says why, and is due again soon. */
export async function putOff(dataSource: DataSource, id: string, error: unknown): Promise<void> {
  const { unavailable } = describeDatabaseError(error);
  const state = sqlStateOf(error);
  const said = String((error as Error).message).slice(0, 500);
  const problem = state === undefined ? said : `PostgreSQL ends it (SQLSTATE ${state})`;
  await dataSource.query(PUT_OFF, [id, unavailable ? PASSING_AGAIN_S : PROBLEM_AGAIN_S, problem]);
}
