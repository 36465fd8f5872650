import { isDeepStrictEqual } from "node:util";
import type { TaskId } from "@unacked/contracts";
import {
  type BackfillAnswer,
  type BackfillSchedule,
  MAX_BACKFILL,
  type OccurrenceStatusName,
  type RunSchedule,
} from "@unacked/contracts";
import type { Definition, TaskDefinition } from "../../domain/schedules/definition.ts";
import { dueTimes } from "../../domain/schedules/due.ts";
import { expressionOf } from "../../domain/schedules/preview.ts";
import { nextTime, timesBetween } from "../../domain/schedules/times.ts";
import type { Refusal } from "../refusal.ts";
import { started } from "./firing.ts";
import type { Existing, NewOccurrence, Requested, ScheduleDecision, ScheduleState, Standing } from "./schedule-store.ts";

const ID_TAKEN: Refusal = { kind: "problem", code: "id-taken" };
const WITHOUT_TASK: Refusal = { kind: "problem", code: "schedule-without-task" };
const KEYED: Refusal = {
  kind: "problem",
  code: "invalid-body",
  errors: [{ pointer: "/overlap", message: "cannot be cancel-running, as the schedule's task has a `key`" }],
};
/** Two that are asked for within one millisecond have neighbouring times. */
const NEAR_MS = 1_000;

/** Makes one occurrence now, whatever the clock says. For a request that was made already, it is the one that it has made. */
export async function runNow(
  state: Standing,
  { id, overlap }: RunSchedule,
  by: string,
  nowMs: number,
  { existing, requested }: { existing: Existing; requested: Requested },
): Promise<{ decision?: ScheduleDecision; answer: { atMs: number } | Refusal }> {
  const { definition } = state;
  const before = id && (await requested(id));
  // Somebody whom no answer has reached asks again.
  if (before !== undefined) return { answer: before.overlap === (overlap ?? null) ? before : ID_TAKEN };
  if (definition.kind !== "task") return { answer: WITHOUT_TASK };
  // It is the same at the schedule's creation: the key would refuse the new task while the one before is being cancelled, and nothing would
  // run.
  if (overlap === "cancel-running" && definition.task.key !== undefined) return { answer: KEYED };
  const taken = await existing(nowMs, nowMs + NEAR_MS);
  let atMs = nowMs;
  // If it took one of the schedule's own times, that would find its row there, and do nothing.
  while (taken.has(atMs) || isItsOwn(definition, atMs)) atMs += 1;
  const asked = { ...state.underWay.regular, overlap: overlap ?? definition.overlap };
  const { occurrences, cancel } = started({ ...state, definition }, asked, [
    { atMs, cause: "manual", lateMs: 0, by, ...(id !== undefined && { request: { id, overlap } }) },
  ]);
  return { decision: decisionOf(state, occurrences, cancel), answer: { atMs } };
}

const isItsOwn = ({ timing }: TaskDefinition, atMs: number): boolean => nextTime(timing, atMs - 1) === atMs;

/**
 * Takes each time of a stretch that has passed, but for those that have started. They go one after the other, beside what comes by time.
 */
export async function backfill(
  state: Standing,
  asked: BackfillSchedule,
  by: string,
  nowMs: number,
  existing: Existing,
): Promise<{ decision?: ScheduleDecision; answer: BackfillAnswer | Refusal }> {
  const { definition, version } = state;
  if (definition.kind !== "task") return { answer: WITHOUT_TASK };
  const fromMs = Date.parse(asked.from);
  // Times that nothing was decided about yet are not for a backfill.
  const toMs = Math.min(Date.parse(asked.to), state.nextMs ?? Number.POSITIVE_INFINITY, nowMs + 1);
  const times = timesBetween(definition.timing, fromMs, toMs, MAX_BACKFILL + 1);
  if (times.length > MAX_BACKFILL) return { answer: tooMany(times[MAX_BACKFILL] as number) };
  const there = times.length === 0 ? new Map<number, OccurrenceStatusName>() : await existing(fromMs, toMs);
  const wanted = times.filter((atMs) => !isUnderWay(there.get(atMs)));
  const overlap = asked.overlap ?? (definition.overlap === "allow" ? "allow" : "queue");
  const { occurrences } = started(
    { ...state, definition },
    { ...state.underWay.backfill, overlap },
    wanted.map((atMs) => ({ atMs, cause: "backfill", lateMs: nowMs - atMs, by })),
  );
  const answer: BackfillAnswer = {
    ...expressionOf(definition),
    version,
    times: times.length,
    ...countsOf(occurrences),
    alreadyStarted: times.length - wanted.length,
  };
  return asked.dryRun || wanted.length === 0 ? { answer } : { decision: decisionOf(state, occurrences, []), answer };
}

/** Counts the occurrences of each status; those that are written already count as they were written. */
export function countsOf(
  occurrences: readonly { status: OccurrenceStatusName }[],
): Pick<BackfillAnswer, "started" | "queued" | "skipped"> {
  const count = (status: OccurrenceStatusName): number => occurrences.filter((one) => one.status === status).length;
  return { started: count("started"), queued: count("queued"), skipped: count("skipped") };
}

const isUnderWay = (status: OccurrenceStatusName | undefined): boolean => status === "started" || status === "queued";

const tooMany = (nextMs: number): Refusal => ({
  kind: "problem",
  code: "invalid-body",
  errors: [
    {
      pointer: "/to",
      message: `there are more than ${MAX_BACKFILL} times before it; ${new Date(nextMs).toISOString()} is the most, and the next call goes on from there`,
    },
  ],
});

/**
 * The times that have come and are told as missed, as the schedule is changed or paused before anybody decided about them: what was due,
 * and what waits for its jitter still. From then on nobody would look at them.
 */
export function missedByChange(before: ScheduleState, nowMs: number): ScheduleDecision | undefined {
  const { id, version, definition, nextMs, lastMs } = before;
  if (definition.kind !== "task" || nextMs === null) return undefined;
  const passed = passedOf(definition, { id, nextMs, lastMs, nowMs, keep: definition.keep });
  if (passed === undefined) return undefined;
  const { due, missed, earlierMissed, waiting, earlierWaiting } = passed;
  const told = (times: readonly { atMs: number; lateMs: number }[], earlier: number): NewOccurrence[] =>
    times.map(({ atMs, lateMs }, i) => {
      const row = { atMs, lateMs, status: "missed", cause: "time", reason: "changed" } as const;
      return i === 0 ? { ...row, earlierMissed: earlier } : row;
    });
  const rows = [...told([...missed, ...due], earlierMissed), ...told(waiting, earlierWaiting)];
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const plan = { nextMs: null, dueMs: null, lastMs: last.atMs };
  const count = rows.length + earlierMissed + earlierWaiting;
  return { id, version, occurrences: rows, cancel: [], plan, missed: count, problem: null };
}

/** Nothing is told where its expression cannot be read: that may be what is mended. */
function passedOf(definition: TaskDefinition, of: Parameters<typeof dueTimes>[1]) {
  const { timing, keep } = definition;
  try {
    const passed = dueTimes(definition, of);
    const { nextMs: next = of.nowMs + 1 } = passed;
    // They are no more than an hour's, as jitter is no longer: all of them are counted.
    const waiting = next > of.nowMs ? [] : timesBetween(timing, next, of.nowMs + 1, Number.POSITIVE_INFINITY);
    const kept = waiting.slice(-keep).map((atMs) => ({ atMs, lateMs: 0 }));
    return { ...passed, waiting: kept, earlierWaiting: waiting.length - kept.length };
  } catch {
    return undefined;
  }
}

export const isSameTiming = (before: Definition, after: Definition): boolean =>
  before.kind === "task" && after.kind === "task" && isDeepStrictEqual(before.timing, after.timing);

const decisionOf = ({ id, version }: ScheduleState, occurrences: NewOccurrence[], cancel: TaskId[]): ScheduleDecision => ({
  id,
  version,
  occurrences,
  cancel,
  plan: undefined,
  missed: 0,
  problem: null,
});
