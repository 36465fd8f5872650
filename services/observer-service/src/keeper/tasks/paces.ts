/** How many have to run before a mean is reported. It then covers about MEMORY of them. */
const ENOUGH = 20;
const MEMORY = 50;
/**
 * If thousands run in a second, only one in this time counts: otherwise one moment in which the machine stood still would be
 * all that is known.
 */
const APART_MS = 10;
/** If the mean changes by this factor, it is reported again, but no sooner than this after the last report. */
const TIMES = 2;
const TOLD_EVERY_MS = 1_000;

interface Pace {
  meanMs: number;
  /** How many tasks the mean covers. */
  count: number;
  newestAtMs: number;
  toldMs?: number;
  toldAtMs: number;
}

/**
 * How long tasks run here, by type: the mean of those that ended by themselves, in which the last fifty count most. It is no percentile, as
 * the mean tells how long many take one after the other, by which bundles and lanes are measured.
 */
export class Paces {
  readonly #byType = new Map<string, Pace>();
  readonly #onNews: () => void;

  /** @param onNews enough of a type have run for the first time, or they take half or twice as long as was told */
  constructor(onNews: () => void) {
    this.#onNews = onNews;
  }

  note(type: string, tookMs: number, nowMs = performance.now()): void {
    const pace = this.#byType.get(type) ?? { ...NEW };
    this.#byType.set(type, pace);
    if (pace.count >= ENOUGH && nowMs - pace.newestAtMs < APART_MS) return;
    pace.newestAtMs = nowMs;
    pace.count += 1;
    pace.meanMs += (tookMs - pace.meanMs) / Math.min(pace.count, MEMORY);
    if (pace.count >= ENOUGH && isNews(pace, nowMs)) this.#onNews();
  }

  /** The mean in ms, which now counts as reported. Undefined if too few have run. */
  tell(type: string, nowMs = performance.now()): number | undefined {
    const pace = this.#byType.get(type);
    if (pace === undefined || pace.count < ENOUGH) return undefined;
    pace.toldMs = pace.meanMs;
    pace.toldAtMs = nowMs;
    return pace.meanMs;
  }
}

const NEW: Pace = { meanMs: 0, count: 0, newestAtMs: Number.NEGATIVE_INFINITY, toldAtMs: Number.NEGATIVE_INFINITY };

function isNews({ meanMs, toldMs, toldAtMs }: Pace, nowMs: number): boolean {
  if (toldMs === undefined) return true;
  return nowMs - toldAtMs >= TOLD_EVERY_MS && (meanMs * TIMES <= toldMs || meanMs >= toldMs * TIMES);
}
