import { TASK_OVER_STATUSES, TASK_STATUSES } from "@unacked/contracts";
import type { MetricSet } from "@unacked/metrics";
import type { TaskTally } from "../../operations/tally.ts";
import type { TaskCounts } from "../../operations/tasks/figures/task-counts.ts";

/** How many are shown: clients choose types and pools freely. */
const MAX_NAMED = 100;
const OTHERS = "(others)";
const LIVE_STATUSES = TASK_STATUSES.filter((status) => !(TASK_OVER_STATUSES as readonly string[]).includes(status));
const POOL = { pool: `pools, the ${MAX_NAMED} with the most tasks; the rest together as ${OTHERS}` };

/** Metrics of tasks: gauges of the database's state at the scrape, and what this manager wrote about them. */
export class TaskMetrics implements TaskTally {
  readonly #tasks;
  readonly #workers;
  readonly #desired;
  readonly #oldest;
  readonly #untaken;
  readonly #ended;
  readonly #leasesOver;

  constructor(metrics: MetricSet) {
    this.#tasks = metrics.gauge({
      name: "unacked_tasks",
      help: "Tasks that are not over, by status and type.",
      labels: { status: LIVE_STATUSES, type: `types, the ${MAX_NAMED} with the most tasks; the rest together as ${OTHERS}` },
    });
    this.#workers = metrics.gauge({
      name: "unacked_task_workers",
      help: "Task workers of living services that do not drain.",
      labels: POOL,
    });
    this.#desired = metrics.gauge({
      name: "unacked_task_workers_desired",
      help: "Tasks that run, or are due and may start, but for what is worked outside: so many task workers would leave none waiting for one; of a type that takes batches a call takes one. What is paused, or held back by maxRunning or ratePerSecond, needs none; nor does what is due of a type that no service of the pool has, while one lives. For autoscalers.",
      labels: POOL,
    });
    this.#oldest = metrics.gauge({
      name: "unacked_task_oldest_ready_seconds",
      help: "For how long the task that is due for longest, and not sent yet, has been due; 0 without one. Without what is worked outside alone, and what is paused.",
      labels: POOL,
    });
    this.#untaken = metrics.gauge({
      name: "unacked_task_oldest_untaken_seconds",
      help: "For how long the task that waits for longest for somebody to take it, as its type is worked outside alone, has been due; 0 without one. Without what is paused.",
      labels: POOL,
    });
    this.#ended = metrics.counter({
      name: "unacked_manager_tasks_ended_total",
      help: "Tasks that services, or workers outside, told the end of, by how. What was cancelled before it ran is not among them.",
      labels: { status: TASK_OVER_STATUSES },
    });
    this.#leasesOver = metrics.counter({
      name: "unacked_manager_task_leases_over_total",
      help: "Leases of workers outside that ran out: they have neither ended nor extended what they had taken.",
    });
  }

  ended(status: (typeof TASK_OVER_STATUSES)[number], count: number): void {
    this.#ended.inc({ status }, count);
  }

  leasesOver(count: number): void {
    this.#leasesOver.inc({}, count);
  }

  /** `undefined` means that they could not be read. */
  show(counts: TaskCounts | undefined): void {
    for (const gauge of [this.#tasks, this.#workers, this.#desired, this.#oldest, this.#untaken]) gauge.reset();
    if (counts === undefined) return;
    const types = new Set(counts.byType.map(({ type }) => type));
    const named = new Set([...types].slice(0, MAX_NAMED));
    for (const { type, status, count } of counts.byType)
      this.#tasks.inc({ type: named.has(type) ? type : OTHERS, status }, count);
    const others = counts.pools.slice(MAX_NAMED);
    const shown = [
      ...counts.pools.slice(0, MAX_NAMED),
      ...(others.length === 0 ? [] : [{ ...others.reduce(together), pool: OTHERS }]),
    ];
    for (const { pool, workers, wanted, oldestReadyS, oldestUntakenS } of shown) {
      this.#workers.set({ pool }, workers);
      this.#desired.set({ pool }, wanted);
      this.#oldest.set({ pool }, oldestReadyS);
      this.#untaken.set({ pool }, oldestUntakenS);
    }
  }
}

type PoolCounts = TaskCounts["pools"][number];

const together = (one: PoolCounts, other: PoolCounts): PoolCounts => ({
  pool: one.pool,
  workers: one.workers + other.workers,
  wanted: one.wanted + other.wanted,
  oldestReadyS: Math.max(one.oldestReadyS, other.oldestReadyS),
  oldestUntakenS: Math.max(one.oldestUntakenS, other.oldestUntakenS),
});
