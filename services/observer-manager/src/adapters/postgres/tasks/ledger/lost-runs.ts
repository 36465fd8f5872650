import type { EntityManager } from "typeorm";
import type { TaskWord } from "../../../../domain/tasks/task-words.ts";
import { mostlyNull } from "../../statements/mostly-null.ts";

/*
 * A run whose message another service has is taken for lost with its service: a crash. If its service had but lost its connection, it tells that
 * it let go of the run, or the run's end, when it has the next, and the crash is taken back; that it was interrupted stays. So the story has, as `lost`,
 * the runs that count as crashes.
 */

/** The parameter for the runs that are lost within a batch, as `e.lost`. */
export const lostIn = (words: TaskWord[]): (string | null)[] =>
  mostlyNull(words.map(({ lost }) => (lost.length === 0 ? null : JSON.stringify(lost))));

/** The parameter for the runs that were not, as `e.told`. */
export const toldIn = (words: TaskWord[]): (string | null)[] =>
  mostlyNull(words.map(({ told }) => (told.length === 0 ? null : JSON.stringify(told))));

/** Whether the run of a row `t` is one of these, as SQL. */
export const IS_TOLD = "coalesce(e.told ? t.run_id::text, false)";

/** How many are lost, as SQL. */
export const LOST_COUNT = "coalesce(jsonb_array_length(e.lost), 0)";

/** What an event adds to the story of a row `t`, as SQL; the last three are as many as may count. @param crashed whether the run of the row is lost, too, as SQL */
export const lostNote = (crashed: string): string => `CASE WHEN e.lost IS NULL AND ${crashed} IS NOT TRUE THEN '{}' ELSE
    jsonb_build_object('lost', jsonb_path_query_array(coalesce(t.story->'lost', '[]')
      || CASE WHEN ${crashed} THEN to_jsonb(ARRAY[t.run_id]) ELSE '[]' END || coalesce(e.lost, '[]'), '$[last - 2 to last]')) END`;

/** The story of a row `t`, with that. */
export const storyWithLost = (crashed: string): string =>
  `CASE WHEN e.lost IS NULL AND ${crashed} IS NOT TRUE THEN t.story ELSE coalesce(t.story, '{}') || ${lostNote(crashed)} END`;

/** The send may be another by now: of a bundle that came back the books send each task again. Index: tasks_pkey. */
const TAKE_BACK = `
  UPDATE tasks t SET story = t.story || jsonb_build_object('lost', (t.story->'lost') - e.runs),
    crashes = greatest(0, t.crashes - jsonb_array_length(t.story->'lost') + jsonb_array_length((t.story->'lost') - e.runs))
  FROM (SELECT id, array_agg(run_id) AS runs FROM unnest($1::uuid[], $2::text[]) AS told (id, run_id) GROUP BY id) AS e
  WHERE t.id = ANY($1) AND t.id = e.id AND t.story->'lost' ?| e.runs`;

/** Takes back the crashes of runs that were let go of, or have ended, and so were not lost with their service. @param ends those that may be of lost runs */
export async function takeBackLost(tx: EntityManager, words: readonly TaskWord[], ends: readonly TaskWord[]): Promise<void> {
  const told = [
    ...words.flatMap((word) => word.told.map((runId) => ({ taskId: word.taskId, runId }))),
    ...ends.flatMap(({ taskId, end }) => (end === undefined ? [] : [{ taskId, runId: end.runId }])),
  ];
  if (told.length > 0) await tx.query(TAKE_BACK, [told.map(({ taskId }) => taskId), told.map(({ runId }) => runId)]);
}
