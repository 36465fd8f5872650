import type { TaskFiguresNow, TaskTypeFigures } from "@unacked/contracts";
import { addFigures, type Figures, meanMsOf, toldOf } from "./task-figures.ts";
import type { TaskLimits } from "./task-limits.ts";
import { type Demand, loadPercentOf, poolLoadPercentOf } from "./task-load.ts";

export const SPAN_MS = { minute: 60_000, hour: 3_600_000 } as const;
export type FigureSpan = keyof typeof SPAN_MS;
/** So many bars are shown. */
const BARS = { minute: 60, hour: 48 } as const;
/** Of so many minutes it is told how it goes lately: this one, as far as it is, and those before. */
const LATELY = { minute: 2, hour: 61 } as const;

/** Of one type in one pool. Of one minute or hour there may be several: their sum is meant. */
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

export const startOf = (atMs: number, by: FigureSpan): number => Math.floor(atMs / SPAN_MS[by]) * SPAN_MS[by];

/** When the first bar begins. */
export const barsSinceMs = (by: FigureSpan, nowMs: number): number => startOf(nowMs, by) - (BARS[by] - 1) * SPAN_MS[by];
/** The minutes that are needed for what is told of lately. */
export const minutesSinceMs = (nowMs: number): number => startOf(nowMs, "minute") - (LATELY.hour - 1) * SPAN_MS.minute;

/** Pure. @param minutes of the last hour @param bars of those that are shown, by minute or hour */
export function overviewOf(
  by: FigureSpan,
  nowMs: number,
  { minutes, bars, standings }: { minutes: readonly FigureRow[]; bars: readonly FigureRow[]; standings: TaskStandings },
): TaskFiguresNow {
  const sinceMs = startOf(nowMs, "minute") - (LATELY[by] - 1) * SPAN_MS.minute;
  const { waiting, flight, able, limits } = standings;
  const types = new Set([...waiting, ...flight, ...able, ...limits, ...bars, ...minutes].map(({ type }) => type));
  const demands = demandsOf(minutes, sinceMs, nowMs, standings);
  const items = [...types].toSorted().map((type): TaskTypeFigures => {
    const ofType = <Row extends { type: string }>(rows: readonly Row[]): Row[] => rows.filter((row) => row.type === type);
    const ready = ofType(waiting);
    const inFlight = ofType(flight)[0];
    const oldest = [
      ...ready.map(({ oldestMs }) => oldestMs),
      ...(inFlight?.oldestSentMs == null ? [] : [inFlight.oldestSentMs]),
    ];
    return {
      type,
      waiting: ready.reduce((sum, { count }) => sum + count, inFlight?.sent ?? 0),
      isWaitingExact: ready.every(({ isExact }) => isExact),
      running: inFlight?.running ?? 0,
      oldestDueAt: oldest.length === 0 ? null : iso(Math.min(...oldest)),
      workers: ofType(able).reduce((sum, { workers }) => sum + workers, 0),
      loadPercent: loadPercentOf(demands.ofType(type)),
      lately: { since: iso(sinceMs), ...toldOf(addFigures(ofType(minutes).filter(({ atMs }) => atMs >= sinceMs))) },
      bars: barsOf(ofType(bars), by, nowMs),
    };
  });
  const pools = standings.pools.map(({ pool, workers }) => {
    const here = new Set([...able, ...minutes].filter((row) => row.pool === pool).map(({ type }) => type));
    return {
      pool,
      workers,
      loadPercent: poolLoadPercentOf(
        workers,
        [...here].map((type) => demands.ofType(type, pool)),
      ),
    };
  });
  return { by, at: iso(nowMs), items, pools };
}

/** What came lately, of a type in one pool or in all. How long one takes is that of the last hour, where none has ended lately. */
function demandsOf(minutes: readonly FigureRow[], sinceMs: number, nowMs: number, { able, limits }: TaskStandings) {
  const ofType = (type: string, pool?: string): Demand => {
    const isMeant = (row: { type: string; pool: string }) => row.type === type && (pool === undefined || row.pool === pool);
    const hour = minutes.filter(isMeant);
    const lately = addFigures(hour.filter(({ atMs }) => atMs >= sinceMs));
    const hands = able.filter(isMeant);
    const { paused = false, maxRunning = null, ratePerSecond = null } = limits.find((one) => one.type === type) ?? {};
    return {
      arrived: lately.created + lately.retried,
      overMs: nowMs - sinceMs,
      meanMs: meanMsOf(lately) ?? meanMsOf(addFigures(hour)),
      workers: hands.reduce((sum, { workers }) => sum + workers, 0),
      batchSize: Math.max(1, ...hands.map(({ batchSize }) => batchSize)),
      paused,
      maxRunning,
      ratePerSecond,
    };
  };
  return { ofType };
}

function barsOf(rows: readonly FigureRow[], by: FigureSpan, nowMs: number): TaskTypeFigures["bars"] {
  const sinceMs = barsSinceMs(by, nowMs);
  return Array.from({ length: BARS[by] }, (_, index) => {
    const atMs = sinceMs + index * SPAN_MS[by];
    const { completed, failed } = addFigures(rows.filter((row) => row.atMs === atMs));
    return { at: iso(atMs), completed, failed };
  });
}

const iso = (ms: number): string => new Date(ms).toISOString();
