import type { TaskId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { bucketInSql } from "../../../../domain/tasks/running-times.ts";
import type { TaskWord } from "../../../../domain/tasks/task-words.ts";
import { prepared } from "../../statements/prepared.ts";
import { ENDED, noted } from "../ended-task-rows.ts";
import { isAnyCut, storyWithCut } from "./cut-runs.ts";
import {
  type EndedRow,
  INTERRUPTED,
  NO_LOOP,
  noteOf,
  OF_BEFORE,
  TOLD,
  TOLD_SEND,
  tookMs,
  WITH_CRASHES,
} from "./task-ends.ts";
import { parametersOfStarted, RUN_BEFORE, STARTED, STARTED_ARRAYS } from "./told-words.ts";

/**
 * Writes what nearly all ends are: completed, with nothing to add. Without the lock before it, and the columns for all that may
 * come of an end, it costs a fifth less. A task that has newer params is left alone, and so is what is told twice: ENDS does these.
 * No task stands twice among the ids. The sends that are meant are looked up in a hash, which `IS TRUE` keeps from being made a
 * join. What is answered is taken from what is written, as to go through all once more, to count them and to gather their ids, took a fifth of it.
 * @returns one row: which of them were current, null if all were, as nearly always; and whether one is a flow's
 */
export const COMPLETIONS = prepared(`
  WITH e AS (
    SELECT * FROM unnest(${STARTED_ARRAYS}, $10::text[], $11::float8[]) AS e (${STARTED}, output, took_ms)
  ), t AS (
    DELETE FROM tasks
    WHERE id = ANY($1::uuid[]) AND send_id IS NOT NULL
      AND ((id, send_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))) IS TRUE AND next_params IS NULL RETURNING *
  ), done AS MATERIALIZED (
    SELECT t.id, t.type, t.params, t.pool, t.priority, 'Completed' AS status, t.due_at, t.max_attempts, t.failures,
           ${INTERRUPTED} AS interruptions, ${WITH_CRASHES} AS crashes, t.sends, e.run_id, e.service_id, e.service_name,
           now() - e.took_ms * interval '1 millisecond' AS started_at, e.output, t.last_error, t.created_at, (SELECT unacked_now()) AS ended_at, t.key,
           CASE WHEN t.story IS NOT NULL OR ${isAnyCut(RUN_BEFORE)} THEN nullif(${storyWithCut(RUN_BEFORE)} - 'lost' ${OF_BEFORE}, '{}') END AS story, t.taken_by,
           ${TOLD_SEND} AS told_send, t.parent_id, t.flow_id, t.flow_ref, e.send_id, e.took_ms, ${TOLD}
    FROM t ${NO_LOOP}
  ), kept AS (
    INSERT INTO ended_tasks (${ENDED}) SELECT ${ENDED} FROM done WHERE told
  ), ${noted({ from: "done", status: "status", output: "output", error: "last_error", where: "told" })},
  counted AS (
    INSERT INTO task_figure_deltas (type, pool, completed, ran_ms, buckets)
    SELECT type, pool, count(*), sum(took_ms), array_agg(${bucketInSql("took_ms")}) FROM done WHERE told GROUP BY type, pool
    RETURNING completed
  )
  SELECT EXISTS (SELECT FROM noted) AS "hasFlowEnds",
         CASE WHEN (SELECT coalesce(sum(completed), 0) FROM counted) < cardinality($1::uuid[]) THEN ARRAY(SELECT id FROM done WHERE told) END AS some`);

/** If one task ended in two sends, only the first may be plain. */
export function partedEnds(ends: readonly TaskWord[]): { plain: TaskWord[]; others: TaskWord[] } {
  const plain = new Map<TaskId, TaskWord>();
  const others = ends.filter((word) => {
    const isOther = !isPlain(word) || plain.has(word.taskId);
    if (!isOther) plain.set(word.taskId, word);
    return isOther;
  });
  return { plain: [...plain.values()], others };
}

/** Completed, and nothing more is said of it. */
const isPlain = (word: TaskWord): boolean =>
  word.end?.outcome === "completed" && word.end.error === undefined && noteOf(word) === null;

/** Whether one of them is a flow's is told for all of them together. */
export type Completed = { ended: EndedRow[]; hasFlowEnds: boolean };

/** The answer is one row for all, as nobody needs to hear of each what he has just said. */
export async function complete(tx: EntityManager, plain: TaskWord[]): Promise<Completed> {
  if (plain.length === 0) return { hasFlowEnds: false, ended: [] };
  const asked = tx.query<{ hasFlowEnds: boolean; some: TaskId[] | null }[]>(COMPLETIONS, parametersOfCompletions(plain));
  const [{ hasFlowEnds, some } = { hasFlowEnds: false, some: [] }] = await asked;
  const among = some === null ? undefined : new Set(some);
  const done = among === undefined ? plain : plain.filter(({ taskId }) => among.has(taskId));
  return { hasFlowEnds, ended: done.map(({ taskId, sendId }) => ({ id: taskId, sendId, status: "Completed" })) };
}

const parametersOfCompletions = (words: TaskWord[]): unknown[] => [
  ...parametersOfStarted(words),
  words.map((w) => w.end?.output ?? null),
  words.map(tookMs),
];
