import { MAX_POSTPONE_MS, type SendId, type TaskId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { bucketInSql } from "../../../../domain/tasks/running-times.ts";
import type { TaskWord } from "../../../../domain/tasks/task-words.ts";
import { allInOrder } from "../../../../operations/all-in-order.ts";
import type { OverTask, SendCreations } from "../../../../operations/tasks/ledger/task-ledger-store.ts";
import { prepared } from "../../statements/prepared.ts";
import { ENDED, MAX_CRASHES, noted } from "../ended-task-rows.ts";
import { CRASHED_ALONE } from "../task-interruptions.ts";
import { CUT_COUNT, cutNote, isAnyCut, LOST_COUNT, type RunOfRow, takeBackLost } from "./cut-runs.ts";
import type { CreatingTask } from "./task-children.ts";
import { CRASHED, FOLLOWED, parametersOfStarted, RUN_BEFORE, STARTED, STARTED_ARRAYS, type ToldRun } from "./told-words.ts";

const OVER = "('Completed', 'Failed', 'Cancelled')";
const UNKNOWN_TYPE_PAUSE = "interval '5 seconds'";

/** Takes out of a story what a run before this end has left: what the task waited for, and who completed it with params of before. */
export const OF_BEFORE = "- 'postponedFor' - 'until' - 'completedBy' - 'turnedAway'";

/** With its slot, in which it was alone, its run has ended, too. */
const RUNS_OF_END: RunOfRow = { ...RUN_BEFORE, more: { when: "e.outcome = 'crashed'", list: CRASHED_ALONE } };

/** The story with what the end adds to it. `at` is left out: it is the due time, and stands there. */
const STORY = `nullif((coalesce(t.story, '{}') ${OF_BEFORE}) || (coalesce(e.note::jsonb, '{}') - 'at') || ${cutNote(RUNS_OF_END)}
  || CASE WHEN e.outcome <> 'postponed' THEN '{}' ELSE
       jsonb_build_object('postpones', coalesce((t.story->>'postpones')::int, 0) + 1) END, '{}')`;

/**
 * When it goes on. A time that a service tells counts up to MAX_POSTPONE_MS from now: everybody who may write the state queue may tell
 * any.
 */
const DUE = `CASE
        WHEN f.has_next THEN unacked_now()
        WHEN f.outcome = 'postponed' AND f.note ? 'at' 
          THEN least(to_timestamp((f.note->>'at')::float8 / 1000), unacked_now() + ${MAX_POSTPONE_MS} * interval '1 millisecond')
        WHEN f.outcome IN ('failed', 'postponed') THEN unacked_now() + f.retry_ms * interval '1 millisecond'
        WHEN f.outcome = 'unknown-type' THEN unacked_now() + coalesce(f.retry_ms * interval '1 millisecond', ${UNKNOWN_TYPE_PAUSE})
        ELSE t.due_at END`;

/**
 * Each tenth postponement forgives one crash: else what asks again for months would have three of them. The crash counts first, and may be
 * the third. None is forgiven ahead: else what has been put off a thousand times might end a hundred services.
 */
const FORGIVEN = "(f.outcome = 'postponed' AND (f.story->>'postpones')::int % 10 = 0)::int";

/** Ends whose running time says something. */
const RAN = "outcome IN ('completed', 'failed')";

/**
 * Joins rows `t` of tasks with what is told of their current sends. If somebody says of two tasks the send of the other, they
 * are not `told`.
 */
export const NO_LOOP = "FULL JOIN e ON e.id = t.id AND e.send_id = t.send_id";
export const TOLD = "t.id IS NOT NULL AND e.id IS NOT NULL AS told";

export const INTERRUPTED = `t.interruptions + ${CUT_COUNT} + ${FOLLOWED}::int`;
export const WITH_CRASHES = `t.crashes + ${LOST_COUNT} + ${CRASHED}::int`;
export const TOLD_SEND = "CASE WHEN t.lease_until IS NULL THEN t.told_send ELSE t.send_id END";

/**
 * Takes one end for each send. If newer params of its key wait, the task is Ready with these; else, if it goes on, it is due again,
 * after its delay or at once. @returns what is over, or has completed and goes on with newer params
 */
export const ENDS = prepared(`
  WITH e AS (
    SELECT * FROM unnest(${STARTED_ARRAYS}, $10::text[], $11::text[], $12::text[], $13::bigint[], $14::float8[], $15::text[])
      AS e (${STARTED}, outcome, output, error, retry_ms, took_ms, note)
  ), t AS MATERIALIZED (
    SELECT * FROM tasks WHERE id = ANY($1::uuid[]) AND send_id = ANY($2::uuid[]) FOR UPDATE
  ), judged AS MATERIALIZED (
    SELECT t.id, t.type, t.params, t.next_params, t.key, t.pool, t.priority, t.due_at, t.max_attempts, t.sends, t.created_at,
           t.cancel_requested_at, t.next_params IS NOT NULL AS has_next, t.taken_by,
           ${TOLD_SEND} AS told_send,
           t.last_error, t.parent_id, t.flow_id, t.flow_ref, t.failures + (e.outcome = 'failed')::int AS failures,
           ${INTERRUPTED} + (e.outcome = 'crashed')::int AS interruptions,
           ${WITH_CRASHES} + (e.outcome = 'crashed')::int AS crashes,
           CASE WHEN t.story IS NOT NULL OR e.note IS NOT NULL OR ${isAnyCut(RUNS_OF_END)} THEN ${STORY} END AS story, e.note::jsonb AS note,
           e.send_id, e.run_id, e.service_id, e.service_name, e.outcome, e.output, e.error::jsonb AS error, e.retry_ms, e.took_ms,
           now() - e.took_ms * interval '1 millisecond' AS started_at, ${TOLD}
    FROM t ${NO_LOOP}
  ), fate AS (
    SELECT *, CASE
      WHEN has_next AND (outcome = 'completed' OR crashes < ${MAX_CRASHES}) THEN 'Ready'
      WHEN outcome = 'completed' THEN 'Completed'
      WHEN outcome = 'cancelled' OR cancel_requested_at IS NOT NULL THEN 'Cancelled'
      WHEN crashes >= ${MAX_CRASHES} THEN 'Failed'
      WHEN outcome = 'failed' AND retry_ms IS NULL THEN 'Failed'
      WHEN outcome IN ('failed', 'unknown-type', 'postponed') THEN 'Scheduled'
      ELSE 'Ready' END AS status FROM judged WHERE told
  ), gone AS (
    DELETE FROM tasks WHERE id = ANY(ARRAY(SELECT id FROM fate WHERE status IN ${OVER}))
  ), kept AS (
    INSERT INTO ended_tasks (${ENDED})
    SELECT id, type, params, pool, priority, status, due_at, max_attempts, failures, interruptions, crashes, sends, run_id,
           service_id, service_name, started_at, output, coalesce(error, last_error), created_at, unacked_now(), key, story, taken_by, told_send, parent_id, flow_id, flow_ref
    FROM fate WHERE status IN ${OVER}
  ), ${noted({ from: "fate", status: "status", output: "output", error: "coalesce(error, last_error)", where: `status IN ${OVER}` })},
  going_on AS (
    UPDATE tasks t SET status = f.status, params = CASE WHEN f.has_next THEN f.next_params ELSE t.params END,
      next_params = NULL, cancel_requested_at = CASE WHEN NOT f.has_next THEN t.cancel_requested_at END,
      failures = CASE WHEN f.has_next THEN 0 ELSE f.failures END, interruptions = f.interruptions,
      crashes = CASE WHEN f.has_next AND f.outcome <> 'crashed' THEN 0 ELSE greatest(0, f.crashes - ${FORGIVEN}) END,
      last_error = coalesce(f.error, t.last_error), send_id = NULL, run_id = NULL, started_at = f.started_at,
      service_id = f.service_id, service_name = f.service_name, lease_until = NULL, told_send = f.told_send,
      story = CASE WHEN f.outcome = 'postponed' THEN f.story || jsonb_build_object('until', ${DUE})
        WHEN f.has_next THEN f.story - 'lost' ELSE f.story END,
      due_at = ${DUE}
    FROM fate f WHERE t.id = f.id AND t.id = ANY(ARRAY(SELECT id FROM fate WHERE status NOT IN ${OVER}))
  ), counted AS (
    INSERT INTO task_figure_deltas (type, pool, completed, failed, cancelled, retried, ran_ms, buckets)
    SELECT type, pool, count(*) FILTER (WHERE outcome = 'completed'), count(*) FILTER (WHERE status = 'Failed'),
           count(*) FILTER (WHERE status = 'Cancelled'), count(*) FILTER (WHERE outcome = 'failed' AND status NOT IN ${OVER}),
           coalesce(sum(took_ms) FILTER (WHERE ${RAN}), 0), coalesce(array_agg(${bucketInSql("took_ms")}) FILTER (WHERE ${RAN}), '{}')
    FROM fate GROUP BY type, pool
  )
  SELECT id, send_id AS "sendId", status, flow_id IS NOT NULL AS "isOfFlow" FROM fate WHERE status IN ${OVER} OR outcome = 'completed'`);

/** Over; or `Ready`: it has completed, and goes on with newer params. */
export type EndedRow = { id: TaskId; sendId: SendId; status: OverTask["status"] | "Ready"; isOfFlow?: boolean };

export async function noteEnds(tx: EntityManager, words: TaskWord[]): Promise<EndedRow[]> {
  return words.length === 0 ? [] : await tx.query(ENDS, parametersOfEnds(words, words.map(endOf)));
}

/** Writes those of these that COMPLETIONS has left alone. */
export async function endRest(tx: EntityManager, plain: TaskWord[], completed: EndedRow[]): Promise<EndedRow[]> {
  if (completed.length === plain.length) return [];
  const done = new Set(completed.map(({ id }) => id));
  const rest = plain.filter(({ taskId }) => !done.has(taskId));
  const [, ended] = await allInOrder([takeBackLost(tx, [], rest), noteEnds(tx, rest)]);
  return ended;
}

/** One end as ENDS takes it; what is left out is null. */
export interface ToldEnd {
  outcome: string | undefined;
  output?: string | undefined;
  /** As JSON, and so is the note. */
  error?: string | undefined;
  inMs?: number | null | undefined;
  tookMs: number;
  note?: string | null;
}

/** The parameters of ENDS. @param ends one for each run */
export const parametersOfEnds = (runs: readonly ToldRun[], ends: readonly ToldEnd[]): unknown[] => [
  ...parametersOfStarted(runs),
  ends.map(({ outcome }) => outcome),
  ends.map(({ output = null }) => output),
  ends.map(({ error = null }) => error),
  ends.map(({ inMs = null }) => inMs),
  ends.map((end) => end.tookMs),
  ends.map(({ note = null }) => note),
];

const endOf = (word: TaskWord): ToldEnd => {
  const { outcome, output, error, retryInMs, postponement } = word.end ?? {};
  const inMs = retryInMs ?? postponement?.inMs;
  return { outcome, output, error: error && JSON.stringify(error), inMs, tookMs: tookMs(word), note: noteOf(word) };
};

/** Nothing has run for longer. By a clock that was set meanwhile a run may have begun before all times of PostgreSQL. */
const LONGEST_RUN_MS = 50 * 366 * 86_400_000;

export const tookMs = ({ end }: TaskWord): number =>
  Math.min(Math.max(0, (end?.at ?? 0) - (end?.startedAt ?? 0)), LONGEST_RUN_MS);

/** What an end adds to the story; null for nearly all. */
export function noteOf({ end, turnedAway }: TaskWord): string | null {
  if (turnedAway !== undefined) return JSON.stringify({ turnedAway });
  if (end?.outcome === "completed" && end.completedBy === "emergency") return '{"completedBy":"emergency"}';
  if (end?.outcome !== "postponed") return null;
  const { reason = "", at } = end.postponement ?? {};
  return JSON.stringify({ postponedFor: reason, ...(at !== undefined && { at }) });
}

export const isOver = (row: EndedRow): row is EndedRow & OverTask => row.status !== "Ready";

/**
 * The creations of those that these ends have completed: not of an older send, whose end may be told beside the current one's, nor of what
 * was cancelled.
 */
export function completedOf(
  ends: TaskWord[],
  ended: EndedRow[],
  creations: ReadonlyMap<SendId, SendCreations>,
): CreatingTask[] {
  const completed = new Set(
    ended.filter(({ status }) => status === "Completed" || status === "Ready").map(({ sendId }) => sendId),
  );
  return ends.flatMap(({ taskId, sendId }) => {
    const found = creations.get(sendId);
    return found === undefined || !completed.has(sendId) ? [] : [{ taskId, ...found }];
  });
}
