import type { OccurrenceReason } from "@unacked/contracts";
import type { TaskSchedule, Timing } from "./definition.ts";
import { jitterOf, lastTimesBetween, nextTime } from "./times.ts";

/** What is decided no later than this after it was due is on time: it need not be caught up. */
export const ON_TIME_MS = 60_000;
/** So many missed times are counted one by one; of those beyond, only the last are looked at. A time takes 60 µs to find. */
const MAX_COUNTED = 500;
const DAY_MS = 86_400_000;

export interface DueTime {
  atMs: number;
  lateMs: number;
  cause: "time" | "catch-up";
}

export interface MissedTime {
  atMs: number;
  lateMs: number;
  reason: Extract<OccurrenceReason, `catch-up-${string}`>;
}

export interface Due {
  /** Times to be started, in order, as far as the policy of overlaps says. */
  due: DueTime[];
  /** The missed times that are kept, in order. */
  missed: MissedTime[];
  /** How many were missed before these, and are not kept; at least so many, where they are more than MAX_COUNTED. */
  earlierMissed: number;
  /** Undefined: there is no time any more. */
  nextMs: number | undefined;
}

/**
 * What became due since the books were written, and what of it is too late to be anything but caught up. Times keep their order: none is due
 * before those before it are, whose jitter may be longer, and it is late only from then on. What was decided before `nextMs` was due before
 * that is, so nothing of it needs to be known.
 * @param nextMs its first time that nothing was decided about
 * @param lastMs the last that something was decided about
 */
export function dueTimes(
  schedule: Pick<TaskSchedule, "timing" | "catchUp" | "catchUpWindowMs" | "catchUpMax">,
  { id, nextMs, lastMs, nowMs, keep }: { id: string; nextMs: number; lastMs: number | null; nowMs: number; keep: number },
): Due {
  const { timing } = schedule;
  let dueMs = Number.NEGATIVE_INFINITY;
  /** It must be asked in order: it keeps the latest due time so far. */
  const lateOf = (atMs: number): number => {
    dueMs = Math.max(dueMs, atMs + jitterOf(id, atMs, timing.jitterMs));
    return nowMs - dueMs;
  };
  // What is missed has its rows beside what is caught up: one of them says how many came before.
  const mostLate = keep + (schedule.catchUp === "all" ? schedule.catchUpMax : 1);
  let seen: Late[] = [];
  let next = firstOf(timing, nextMs, lastMs);
  let skipped = 0;
  let hasSkipped = false;
  for (; next !== undefined; next = nextTime(timing, next)) {
    const lateMs = lateOf(next);
    if (lateMs < 0) break;
    seen.push({ atMs: next, lateMs });
    if (hasSkipped || seen.length <= MAX_COUNTED || lateMs <= ON_TIME_MS) continue;
    // Too many to look at each: the last ones are what matters. These are late, whatever their jitter is.
    hasSkipped = true;
    const lateUntilMs = nowMs - ON_TIME_MS - timing.jitterMs;
    const last = lastTimesBetween(timing, next + 1, Math.max(next + 1, lateUntilMs), mostLate);
    seen.push(...last.map((atMs) => ({ atMs, lateMs: lateOf(atMs) })));
    skipped = Math.max(0, seen.length - mostLate);
    seen = seen.slice(skipped);
    next = last.at(-1) ?? next;
  }
  const onTime = seen.filter(({ lateMs }) => lateMs <= ON_TIME_MS);
  const late = seen.filter(({ lateMs }) => lateMs > ON_TIME_MS);
  const { caught, missed } = catchUp(schedule, late, onTime.length > 0);
  const kept = missed.slice(-keep);
  return {
    due: [
      ...caught.map((one) => ({ ...one, cause: "catch-up" as const })),
      ...onTime.map((one) => ({ ...one, cause: "time" as const })),
    ],
    missed: kept,
    earlierMissed: skipped + missed.length - kept.length,
    nextMs: next,
  };
}

/**
 * `nextMs` itself, as long as its zone has the rules by which it was written. By other rules (another Node) that may be no time of the
 * schedule: then it has become the one that is nearest to it.
 */
export function firstOf(timing: Timing, nextMs: number, lastMs: number | null): number | undefined {
  const next = nextTime(timing, nextMs - 1);
  if (next === nextMs) return next;
  const nearerThanMs = Math.min(DAY_MS, (next ?? Number.POSITIVE_INFINITY) - nextMs);
  const fromMs = 1 + Math.max(nextMs - nearerThanMs, lastMs ?? Number.NEGATIVE_INFINITY);
  return lastTimesBetween(timing, fromMs, nextMs, 1)[0] ?? next;
}

type Late = Omit<DueTime, "cause">;

function catchUp(
  { catchUp: policy, catchUpWindowMs, catchUpMax }: Pick<TaskSchedule, "catchUp" | "catchUpWindowMs" | "catchUpMax">,
  late: Late[],
  isAnyOnTime: boolean,
): { caught: Late[]; missed: MissedTime[] } {
  const isWithin = ({ lateMs }: Late): boolean => lateMs <= catchUpWindowMs;
  const within = late.filter(isWithin);
  const most = policy === "all" ? catchUpMax : policy === "latest" && !isAnyOnTime ? 1 : 0;
  const caught = new Set(most === 0 ? [] : within.slice(-most));
  const reasonOf = (one: Late): MissedTime["reason"] => {
    if (policy === "none") return "catch-up-none";
    if (!isWithin(one)) return "catch-up-window";
    return policy === "latest" ? "catch-up-latest" : "catch-up-max";
  };
  return {
    caught: late.filter((one) => caught.has(one)),
    missed: late.filter((one) => !caught.has(one)).map((one) => ({ ...one, reason: reasonOf(one) })),
  };
}
