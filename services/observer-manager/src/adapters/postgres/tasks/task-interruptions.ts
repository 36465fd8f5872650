import type { TaskInterruption } from "@unacked/contracts";

/*
 * Why a task was interrupted stands in its story, as `interrupted`: the last three, as the third may end it. Only who books an interruption writes it, so
 * that nothing is read or written for the others.
 */

/** One as the story keeps it; by the run it is found where its service says later that it lost the broker. */
export interface KeptInterruption {
  at: string;
  reason: TaskInterruption;
  runId: string | null;
  service?: { id: string | null; name: string | null };
  takenBy?: string;
  detail?: string | null;
}

/** This moment as texts of JSON have it. */
const NOW = `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** What the story of a row `t` gains, as SQL. @param more a list of them, as SQL */
export const interruptedNote = (more: string): string =>
  `jsonb_build_object('interrupted', jsonb_path_query_array(coalesce(t.story->'interrupted', '[]') || ${more}, '$[last - 2 to last]'))`;

/** The run of a row `t`, which a service had, as a list of one. @param of SQL */
export const onService = (of: { reason: string; detail?: string }): string =>
  `jsonb_build_array(jsonb_build_object('at', ${NOW}, 'reason', ${of.reason}, 'runId', t.run_id,
    'service', jsonb_build_object('id', t.service_id, 'name', t.service_name), 'detail', ${of.detail ?? "NULL"}))`;

/** The run of a row `t`, which a worker outside had. @param reason SQL */
export const onTaker = (reason: string): string =>
  `jsonb_build_array(jsonb_build_object('at', ${NOW}, 'reason', ${reason}, 'runId', t.run_id, 'takenBy', t.taken_by))`;

/** The run that an end `e` tells of, which was alone in the slot that it ended. */
export const CRASHED_ALONE = `jsonb_build_array(jsonb_build_object('at', ${NOW}, 'reason', 'crashed', 'runId', e.run_id,
    'service', jsonb_build_object('id', e.service_id, 'name', e.service_name),
    'detail', left((e.error::jsonb->>'name') || ': ' || (e.error::jsonb->>'message'), 600)))`;

/** Has the time in place of each `"at": null`: within a text there would be a backslash before each quote. @param list which PostgreSQL has as jsonb */
export const atNow = (list: string): string => `replace(${list}::text, '"at": null', '"at": "' || ${NOW} || '"')::jsonb`;
