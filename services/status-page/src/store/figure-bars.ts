import type { TaskTypeFigures } from "@unacked/contracts";

/** One minute or hour, in parts of the tallest. What failed stands on what completed. */
export interface Bar {
  at: string;
  completed: number;
  failed: number;
}

/** A quiet type does not look like a busy one: the scale is never finer than this. */
const LEAST_TOP = 5;

export function barsOf({ bars }: Pick<TaskTypeFigures, "bars">): Bar[] {
  const top = Math.max(LEAST_TOP, ...bars.map(({ completed, failed }) => completed + failed));
  return bars.map(({ at, completed, failed }) => ({ at, completed: completed / top, failed: failed / top }));
}

const COUNT = new Intl.NumberFormat();

/** The same in words, for those who do not see it. */
export function sayBars({ type, bars }: Pick<TaskTypeFigures, "type" | "bars">, by: "minute" | "hour"): string {
  const completed = bars.reduce((sum, bar) => sum + bar.completed, 0);
  const failed = bars.reduce((sum, bar) => sum + bar.failed, 0);
  const most = Math.max(0, ...bars.map((bar) => bar.completed));
  const time = by === "minute" ? "60 minutes" : "48 hours";
  return `${type}, the last ${time}: ${COUNT.format(completed)} done, at most ${COUNT.format(most)} in one ${by}, ${COUNT.format(failed)} failed`;
}
