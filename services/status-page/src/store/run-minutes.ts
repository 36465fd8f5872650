import type { RunCounts, RunFigures } from "@unacked/contracts";

export const COUNTED = ["starts", "failures", "interruptions", "emits"] as const satisfies (keyof RunCounts)[];
export type Counted = (typeof COUNTED)[number];

const MINUTE_MS = 60_000;

export interface MinuteSeries {
  /** Seconds since the epoch, of each minute's begin; the oldest first. */
  timesS: number[];
  values: Record<Counted, number[]>;
  sums: RunCounts;
}

/** Every minute that was asked for, also those in which nothing was. */
export function minutesOf({ since, at, items }: RunFigures): MinuteSeries {
  const sinceMs = Date.parse(since);
  const byTime = new Map(items.map((item) => [Date.parse(item.at), item]));
  const minutes = Math.floor((Date.parse(at) - sinceMs) / MINUTE_MS) + 1;
  const timesMs = Array.from({ length: minutes }, (_, index) => sinceMs + index * MINUTE_MS);
  const of = (count: Counted) => timesMs.map((timeMs) => byTime.get(timeMs)?.[count] ?? 0);
  const values = { starts: of("starts"), failures: of("failures"), interruptions: of("interruptions"), emits: of("emits") };
  const sum = (count: Counted) => values[count].reduce((total, value) => total + value, 0);
  return {
    timesS: timesMs.map((timeMs) => timeMs / 1_000),
    values,
    sums: { starts: sum("starts"), failures: sum("failures"), interruptions: sum("interruptions"), emits: sum("emits") },
  };
}
