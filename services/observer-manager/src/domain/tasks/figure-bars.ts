import type { TaskTypeFigures } from "@unacked/contracts";
import type { Figures } from "./task-figures.ts";

export const SPAN_MS = { minute: 60_000, hour: 3_600_000 } as const;
export type FigureSpan = keyof typeof SPAN_MS;
/** So many bars are shown. */
const BARS = { minute: 60, hour: 48 } as const;

export const startOf = (atMs: number, by: FigureSpan): number => Math.floor(atMs / SPAN_MS[by]) * SPAN_MS[by];

/** When the first bar begins. */
export const barsSinceMs = (by: FigureSpan, nowMs: number): number => startOf(nowMs, by) - (BARS[by] - 1) * SPAN_MS[by];

type BarRow = Pick<Figures, "completed" | "failed"> & { atMs: number };

/** Makes the bars of one type at a time. Bars in which nothing was are the same objects for all types. */
export function barMaker(by: FigureSpan, nowMs: number): (rows: readonly BarRow[]) => TaskTypeFigures["bars"] {
  const sinceMs = barsSinceMs(by, nowMs);
  const empty = Array.from({ length: BARS[by] }, (_, index) => ({
    at: new Date(sinceMs + index * SPAN_MS[by]).toISOString(),
    completed: 0,
    failed: 0,
  }));
  return (rows) => {
    const bars = [...empty];
    for (const { atMs, completed, failed } of rows) {
      const index = (atMs - sinceMs) / SPAN_MS[by];
      const bar = bars[index];
      if (bar !== undefined) bars[index] = { at: bar.at, completed: bar.completed + completed, failed: bar.failed + failed };
    }
    return bars;
  };
}
