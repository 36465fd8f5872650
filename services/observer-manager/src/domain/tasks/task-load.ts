/** What comes of one type, and who can do it. */
export interface Demand {
  /** Attempts that came: tasks that were created, and those that are made again. */
  arrived: number;
  /** They arrived in so long. */
  overMs: number;
  /** How long one takes; null: nobody knows yet. */
  meanMs: number | null;
  /** Task workers of living services that have the type. */
  workers: number;
  /** So many are given to one call. */
  batchSize: number;
  /** Limits of the type. */
  paused: boolean;
  maxRunning: number | null;
  ratePerSecond: number | null;
}

/**
 * The work that arrives, in per cent of what can be done: above 100 what waits grows. It is reckoned as if the type had all workers that
 * have it for itself. Null: nobody can say, as none was seen to run yet, or nobody runs any (no worker, or it is paused).
 */
export function loadPercentOf(demand: Demand): number | null {
  const { arrived, overMs, meanMs, paused, ratePerSecond } = demand;
  if (paused || demand.workers === 0) return null;
  if (arrived === 0) return 0;
  if (meanMs === null) return null;
  const busy = workOf(demand) / (placesOf(demand) * overMs);
  const rate = ratePerSecond === null ? 0 : (arrived * 1_000) / (ratePerSecond * overMs);
  return 100 * Math.max(busy, rate);
}

/** How long a worker is busy with what arrived, in ms. */
export const workOf = ({ arrived, meanMs, batchSize }: Demand): number => (arrived * (meanMs ?? 0)) / batchSize;

/** How many workers it may have at once. */
const placesOf = ({ workers, maxRunning, batchSize }: Demand): number =>
  maxRunning === null ? workers : Math.min(workers, maxRunning / batchSize);

/** The load of all types that share these workers. Null: there are no workers. */
export function poolLoadPercentOf(workers: number, demands: readonly Demand[]): number | null {
  if (workers === 0) return null;
  return demands.reduce((sum, demand) => sum + (100 * workOf(demand)) / (workers * demand.overMs), 0);
}
