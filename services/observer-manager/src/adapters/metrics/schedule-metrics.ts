import { OCCURRENCE_STATUSES, type OccurrenceStatusName, SCHEDULE_STATUSES } from "@unacked/contracts";
import type { MetricSet } from "@unacked/metrics";
import type { ScheduleCounts } from "../../operations/schedules/schedule-store.ts";
import type { ScheduleTally } from "../../operations/tally.ts";

/** Metrics of schedules: gauges of the database's state at the scrape, and what this manager did. */
export class ScheduleMetrics implements ScheduleTally {
  readonly #schedules;
  readonly #oldest;
  readonly #occurrences;
  readonly #lateness;

  constructor(metrics: MetricSet) {
    this.#schedules = metrics.gauge({
      name: "unacked_schedules",
      help: "Schedules.",
      labels: { status: [...SCHEDULE_STATUSES] },
    });
    this.#oldest = metrics.gauge({
      name: "unacked_schedules_oldest_due_seconds",
      help: "For how long the schedule that is due for longest has been due, and nothing decided about it; 0 without one.",
    });
    this.#occurrences = metrics.counter({
      name: "unacked_manager_schedule_occurrences_total",
      help: "Occurrences of schedules that this manager decided about. Skipped and missed ones say why with the schedule.",
      labels: { outcome: [...OCCURRENCE_STATUSES] },
    });
    this.#lateness = metrics.histogram({
      name: "unacked_manager_schedule_lateness_seconds",
      help: "Occurrences that came due: from that time, with its jitter, by PostgreSQL's clock, to the transaction that decided about them.",
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    });
  }

  decided(status: OccurrenceStatusName, lateMs: number | undefined): void {
    this.#occurrences.inc({ outcome: status });
    if (lateMs !== undefined && status !== "missed") this.#lateness.observe(Math.max(0, lateMs) / 1_000);
  }

  /** `undefined` means that they could not be read. */
  show(counts: ScheduleCounts | undefined): void {
    this.#schedules.reset();
    this.#oldest.remove();
    if (counts === undefined) return;
    for (const status of SCHEDULE_STATUSES)
      this.#schedules.set({ status }, counts.byStatus.find((one) => one.status === status)?.count ?? 0);
    this.#oldest.set({}, counts.oldestDueS);
  }
}
