import type { MetricSet } from "@unacked/metrics";
import type { TimerTally } from "../../operations/tally.ts";
import type { FiringOutcome, TimerCounts } from "../../operations/timers/timer-store.ts";

const LIVE = ["Waiting", "Firing"];
const OUTCOMES = ["fired", "returned", "refused", "too-late", "unknown", "not-sent", "not-tried"] satisfies FiringOutcome[];

/** Metrics of timers: gauges of the database's state at the scrape, and what this manager did. */
export class TimerMetrics implements TimerTally {
  readonly #timers;
  readonly #oldest;
  readonly #tries;
  readonly #expired;
  readonly #lateness;

  constructor(metrics: MetricSet) {
    this.#timers = metrics.gauge({ name: "unacked_timers", help: "Timers that are not over.", labels: { status: LIVE } });
    this.#oldest = metrics.gauge({
      name: "unacked_timers_oldest_due_seconds",
      help: "For how long the timer that is due for longest, and not fired, has been due; 0 without one. Without those that no queue took.",
    });
    this.#tries = metrics.counter({
      name: "unacked_manager_timers_tried_total",
      help: "Timers that this manager published, by what became of them. Fired: confirmed; returned: no queue took it; refused: a queue did not; too-late: it was not confirmed in time; unknown: the broker went before its confirm; not-sent: it went before that; not-tried: what was sent to its name before was not taken. All but the first are tried again.",
      labels: { outcome: OUTCOMES },
    });
    this.#expired = metrics.counter({
      name: "unacked_manager_timers_expired_total",
      help: "Timers that no queue took until they expired, or that nobody could fire until then.",
    });
    this.#lateness = metrics.histogram({
      name: "unacked_manager_timer_lateness_seconds",
      help: "Timers that were fired: from the time that was asked for, by PostgreSQL's clock, to the broker's confirm.",
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600],
    });
  }

  tried(outcome: FiringOutcome, lateMs: number): void {
    this.#tries.inc({ outcome });
    if (outcome === "fired") this.#lateness.observe(Math.max(0, lateMs) / 1_000);
  }

  expired(count: number): void {
    this.#expired.inc(count);
  }

  /** `undefined` means that they could not be read. */
  show(counts: TimerCounts | undefined): void {
    this.#timers.reset();
    this.#oldest.remove();
    if (counts === undefined) return;
    for (const status of LIVE)
      this.#timers.set({ status }, counts.byStatus.find((one) => one.status === status)?.count ?? 0);
    this.#oldest.set({}, counts.oldestDueS);
  }
}
