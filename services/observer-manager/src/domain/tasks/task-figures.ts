import { addHistograms, type Histogram, percentileOf } from "./running-times.ts";

/** What became of the tasks of one type in some time. */
export interface Figures {
  created: number;
  completed: number;
  /** Tasks that were given up. */
  failed: number;
  cancelled: number;
  /** Attempts that failed and are made again; tasks that were over and run again. */
  retried: number;
  /** The running times of attempts that completed or failed, together. */
  ranMs: number;
  histogram: Histogram;
}

export function addFigures(all: readonly Figures[]): Figures {
  const sum = (of: (figures: Figures) => number): number => all.reduce((total, figures) => total + of(figures), 0);
  return {
    created: sum(({ created }) => created),
    completed: sum(({ completed }) => completed),
    failed: sum(({ failed }) => failed),
    cancelled: sum(({ cancelled }) => cancelled),
    retried: sum(({ retried }) => retried),
    ranMs: sum(({ ranMs }) => ranMs),
    histogram: addHistograms(all.map(({ histogram }) => histogram)),
  };
}

const attemptsOf = ({ histogram }: Figures): number => Object.values(histogram).reduce((sum, count) => sum + count, 0);

/** The mean time of an attempt that completed or failed, in ms; null: there was none. */
export function meanMsOf(figures: Figures): number | null {
  const attempts = attemptsOf(figures);
  return attempts === 0 ? null : figures.ranMs / attempts;
}

export function toldOf({ histogram, ranMs, ...counts }: Figures) {
  const meanMs = meanMsOf({ histogram, ranMs, ...counts });
  return { ...counts, meanMs, p95Ms: percentileOf(histogram, 0.95) };
}
