import type { EntityManager } from "typeorm";
import type { CutRun, TaskWord } from "../../../../domain/tasks/task-words.ts";
import { mostlyNull } from "../../statements/mostly-null.ts";
import { atNow, interruptedNote, type KeptInterruption, onService } from "../task-interruptions.ts";

/*
 * A run whose message another service has is taken for lost with its service: a crash. If its service had but lost its connection, it tells that
 * it let go of the run, or the run's end, when it has the next, and the crash is taken back; that it was interrupted stays. So the story has, as `lost`,
 * the runs that count as crashes.
 */

/** The parameter for the runs that others have followed within a batch, as `e.cut`. */
export const cutIn = (runs: readonly Partial<Pick<TaskWord, "cut">>[]): (string | null)[] =>
  mostlyNull(runs.map(({ cut = [] }) => (cut.length === 0 ? null : JSON.stringify(cut.map(kept)))));

/** The parameter for the runs that were not lost, as `e.told`. */
export const toldIn = (runs: readonly Partial<Pick<TaskWord, "told">>[]): (string | null)[] =>
  mostlyNull(runs.map(({ told = [] }) => (told.length === 0 ? null : JSON.stringify(told))));

/** Whether the run of a row `t` is one of these, as SQL. */
export const IS_TOLD = "coalesce(e.told ? t.run_id::text, false)";

/** PostgreSQL writes the time: its clock counts. */
const kept = ({ runId, by, reason, detail }: CutRun): Omit<KeptInterruption, "at"> & { at: null } => ({
  ...{ at: null, reason, runId, service: { id: by.serviceId, name: by.serviceName } },
  ...(detail !== undefined && { detail }),
});

/** How many these are, as SQL, and how many of them went with their service. */
export const CUT_COUNT = "coalesce(jsonb_array_length(e.cut), 0)";
const LOST = `jsonb_path_query_array(e.cut, '$[*] ? (@.reason == "service-gone").runId')`;
export const LOST_COUNT = `coalesce(jsonb_array_length(${LOST}), 0)`;

/** As SQL: whether the run of a row `t` is interrupted by what is told, and whether it went with its service. */
export interface RunOfRow {
  isCut: string;
  isLost: string;
  /** What else is interrupted, as a list, and whether anything is. */
  more?: { when: string; list: string };
}

/** What an event adds to the story of a row `t`, as SQL; the last three are as many as may count. */
export const cutNote = (run: RunOfRow): string => `CASE WHEN ${isAnyCut(run)} THEN ${notesOf(run)} ELSE '{}' END`;

/** The story of a row `t`, with that. */
export const storyWithCut = (run: RunOfRow): string =>
  `CASE WHEN ${isAnyCut(run)} THEN coalesce(t.story, '{}') || ${notesOf(run)} ELSE t.story END`;

/** Whether a story gains anything. */
export const isAnyCut = ({ isCut, more }: RunOfRow): string =>
  `(e.cut IS NOT NULL OR ${isCut}${more === undefined ? "" : ` OR ${more.when}`})`;

const notesOf = (run: RunOfRow): string => `${lostNote(run)} || ${interruptedNote(interruptionsOf(run))}`;

const lostNote = ({ isLost }: RunOfRow): string => `CASE WHEN ${isLost} OR ${LOST_COUNT} > 0 THEN
      jsonb_build_object('lost', jsonb_path_query_array(coalesce(t.story->'lost', '[]')
        || ${listIf(isLost, "to_jsonb(ARRAY[t.run_id])")} || coalesce(${LOST}, '[]'), '$[last - 2 to last]')) ELSE '{}' END`;

function interruptionsOf({ isCut, isLost, more }: RunOfRow): string {
  const ofRow = onService({
    reason: `CASE WHEN ${isLost} THEN 'service-gone' ELSE 'restarted' END`,
    detail: `CASE WHEN ${isLost} IS NOT TRUE THEN e.interruption END`,
  });
  const last = more === undefined ? "'[]'" : listIf(more.when, more.list);
  return `${listIf(isCut, ofRow)} || coalesce(${atNow("e.cut")}, '[]') || ${last}`;
}

const listIf = (condition: string, list: string): string => `CASE WHEN ${condition} THEN ${list} ELSE '[]' END`;

/** Of those the service has not gone: it says itself that it lost the broker. */
const WITH_LEASE_LOST = `(
    SELECT jsonb_agg(CASE WHEN one->>'runId' = ANY(e.runs) THEN one || '{"reason": "lease-lost"}' ELSE one END ORDER BY place)
    FROM jsonb_array_elements(t.story->'interrupted') WITH ORDINALITY AS i (one, place))`;

/** The send may be another by now: of a bundle that came back the books send each task again. Index: tasks_pkey. */
const TAKE_BACK = `
  UPDATE tasks t SET
    story = t.story || jsonb_build_object('lost', (t.story->'lost') - e.runs, 'interrupted', coalesce(${WITH_LEASE_LOST}, '[]')),
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
