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
  readonly #ended;

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
      help: "Tasks that run, or are due and may start, but for what is worked outside: so many task workers would leave none waiting for one; of a type that takes batches a call takes one. What is paused, or held back by maxRunning or ratePerSecond, needs none. For autoscalers.",
      labels: POOL,
    });
    this.#oldest = metrics.gauge({
      name: "unacked_task_oldest_ready_seconds",
      help: "For how long the task that is due for longest, and not sent yet, has been due; 0 without one. Without what is worked outside, and what is paused.",
      labels: POOL,
    });
    this.#ended = metrics.counter({
      name: "unacked_manager_tasks_ended_total",
      help: "Tasks that services, or workers outside, told the end of, by how. What was cancelled before it ran is not among them.",
      labels: { status: TASK_OVER_STATUSES },
    });
  }

  ended(status: (typeof TASK_OVER_STATUSES)[number], count: number): void {
    this.#ended.inc({ status }, count);
  }

  /** `undefined` means that they could not be read. */
  show(counts: TaskCounts | undefined): void {
    for (const gauge of [this.#tasks, this.#workers, this.#desired, this.#oldest]) gauge.reset();
    if (counts === undefined) return;
    const types = new Set(counts.byType.map(({ type }) => type));
    const named = new Set([...types].slice(0, MAX_NAMED));
    for (const { type, status, count } of counts.byType)
      this.#tasks.inc({ type: named.has(type) ? type : OTHERS, status }, count);
    let oldestOfOthers = 0;
    for (const [index, { pool: name, workers, wanted, oldestReadyS }] of counts.pools.entries()) {
      const pool = index < MAX_NAMED ? name : OTHERS;
      this.#workers.inc({ pool }, workers);
      this.#desired.inc({ pool }, wanted);
      if (pool === OTHERS) oldestOfOthers = Math.max(oldestOfOthers, oldestReadyS);
      this.#oldest.set({ pool }, pool === OTHERS ? oldestOfOthers : oldestReadyS);
    }
  }
}
