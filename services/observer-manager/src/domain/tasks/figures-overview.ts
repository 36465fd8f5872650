import type { TaskFiguresNow, TaskTypeFigures } from "@unacked/contracts";
import { grouped } from "../grouped.ts";
import { shownTime } from "../shown-time.ts";
import { barMaker, type FigureSpan, SPAN_MS, startOf } from "./figure-bars.ts";
import { addFigures, type Figures, meanMsOf, toldOf } from "./task-figures.ts";
import type { TaskLimits } from "./task-limits.ts";
import { type Demand, loadPercentOf, poolLoadPercentOf } from "./task-load.ts";

/** `lately` tells of so many minutes: this one, as far as it is, and those before. */
const LATELY = { minute: 2, hour: 61 } as const;

/** Figures of one type in one pool. A minute or hour may have several rows: their sum is meant. */
export interface FigureRow extends Figures {
  /** When the minute or hour begins. */
  atMs: number;
  type: string;
  pool: string;
}

/** How it stands just now. */
export interface TaskStandings {
  waiting: { type: string; pool: string; count: number; isExact: boolean; oldestMs: number }[];
  flight: { type: string; sent: number; running: number; oldestSentMs: number | null }[];
  /** Workers that have the type, by pool. */
  able: { type: string; pool: string; workers: number; batchSize: number }[];
  pools: { pool: string; workers: number }[];
  limits: ({ type: string } & TaskLimits)[];
}

/** The figures as the page has them, without what only the page draws. */
export type TaskFiguresUndrawn = Omit<TaskFiguresNow, "items"> & { items: Omit<TaskTypeFigures, "bars">[] };

/** The minutes that are needed for what is told of lately. */
export const minutesSinceMs = (nowMs: number): number => startOf(nowMs, "minute") - (LATELY.hour - 1) * SPAN_MS.minute;

/**
 * Pure. It goes once through the rows, however many types they are of: clients choose types freely, one of its own for each task if they
 * like.
 * @param minutes rows of the last hour
 * @param bars rows of the bars that are shown, by minute or hour
 */
export function overviewOf(
  by: FigureSpan,
  nowMs: number,
  { minutes, bars, standings }: { minutes: readonly FigureRow[]; bars: readonly FigureRow[]; standings: TaskStandings },
): TaskFiguresNow {
  const drawn = grouped(bars, ({ type }) => type);
  const barsOf = barMaker(by, nowMs);
  const { items, ...rest } = undrawnOf(by, nowMs, { minutes, standings }, drawn.keys());
  return { ...rest, items: items.map((item) => ({ ...item, bars: barsOf(drawn.get(item.type) ?? []) })) };
}

/** The same without bars. @param others types that are told of in any case */
export function undrawnOf(
  by: FigureSpan,
  nowMs: number,
  { minutes, standings }: { minutes: readonly FigureRow[]; standings: TaskStandings },
  others: Iterable<string> = [],
): TaskFiguresUndrawn {
  const sinceMs = startOf(nowMs, "minute") - (LATELY[by] - 1) * SPAN_MS.minute;
  const hours = grouped(minutes, ({ type }) => type);
  const waiting = grouped(standings.waiting, ({ type }) => type);
  const flight = new Map(standings.flight.map((row) => [row.type, row]));
  const able = grouped(standings.able, ({ type }) => type);
  const limits = new Map(standings.limits.map((row) => [row.type, row]));
  const demandOf = demandsOf({ sinceMs, overMs: nowMs - sinceMs, limits });
  const types = new Set(others);
  for (const rows of [hours, waiting, flight, able, limits]) for (const type of rows.keys()) types.add(type);
  const items = [...types].toSorted().map((type) => {
    const ready = waiting.get(type) ?? [];
    const inFlight = flight.get(type);
    const oldest = [
      ...ready.map(({ oldestMs }) => oldestMs),
      ...(inFlight?.oldestSentMs == null ? [] : [inFlight.oldestSentMs]),
    ];
    const { lately, demand } = demandOf(type, hours.get(type), able.get(type));
    return {
      type,
      waiting: ready.reduce((sum, { count }) => sum + count, inFlight?.sent ?? 0),
      isWaitingExact: ready.every(({ isExact }) => isExact),
      running: inFlight?.running ?? 0,
      oldestDueAt: oldest.length === 0 ? null : shownTime(Math.min(...oldest)),
      workers: demand.workers,
      loadPercent: loadPercentOf(demand),
      lately: { since: shownTime(sinceMs), ...toldOf(lately) },
    };
  });
  return { by, at: shownTime(nowMs), items, pools: poolsOf(minutes, standings, demandOf) };
}

type DemandOf = ReturnType<typeof demandsOf>;

/**
 * Work of a type that is worked outside, and that no worker of the pool has, is none of the pool's, as in task-counts.ts. Of a type that
 * both have, all of it is.
 */
function poolsOf(
  minutes: readonly FigureRow[],
  { able, pools, limits }: TaskStandings,
  demandOf: DemandOf,
): TaskFiguresNow["pools"] {
  const outside = new Set(limits.flatMap((limit) => (limit.outside ? limit.type : [])));
  const minutesIn = grouped(minutes, ({ pool }) => pool);
  const ableIn = grouped(able, ({ pool }) => pool);
  return pools.map(({ pool, workers }) => {
    const hours = grouped(minutesIn.get(pool) ?? [], ({ type }) => type);
    const hands = grouped(ableIn.get(pool) ?? [], ({ type }) => type);
    const others = [...hours.keys()].filter((type) => !outside.has(type));
    const demands = [...new Set([...hands.keys(), ...others])].map(
      (type) => demandOf(type, hours.get(type), hands.get(type)).demand,
    );
    return { pool, workers, loadPercent: poolLoadPercentOf(workers, demands) };
  });
}

interface DemandParts {
  sinceMs: number;
  overMs: number;
  limits: ReadonlyMap<string, TaskLimits>;
}

/** What came lately of a type, in one pool or in all. Where none has ended lately, the mean time is that of the last hour. */
function demandsOf({ sinceMs, overMs, limits }: DemandParts) {
  return (type: string, hour: readonly FigureRow[] = [], able: TaskStandings["able"] = []) => {
    const lately = addFigures(hour.filter(({ atMs }) => atMs >= sinceMs));
    const { paused = false, maxRunning = null, ratePerSecond = null } = limits.get(type) ?? {};
    const demand: Demand = {
      arrived: lately.created + lately.retried,
      overMs,
      meanMs: meanMsOf(lately) ?? meanMsOf(addFigures(hour)),
      workers: able.reduce((sum, { workers }) => sum + workers, 0),
      batchSize: able.reduce((most, { batchSize }) => Math.max(most, batchSize), 1),
      paused,
      maxRunning,
      ratePerSecond,
    };
    return { lately, demand };
  };
}
