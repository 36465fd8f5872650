import type { MetricSet } from "@unacked/metrics";
import type { TaskFiguresUndrawn } from "../../domain/tasks/figures-overview.ts";

/** How many are shown: clients choose types and pools freely. */
const MAX_NAMED = 100;
const KINDS = ["created", "completed", "failed", "cancelled", "retried"] as const;
const TYPE = { type: `types, the ${MAX_NAMED} with the most tasks lately; others are left out` };
const LATELY = "in the minute before and this one";

/** Figures of task types from the database's state at the scrape, the same at every manager. */
export class TaskFigureMetrics {
  readonly #rate;
  readonly #load;
  readonly #poolLoad;
  readonly #mean;
  readonly #p95;

  constructor(metrics: MetricSet) {
    const gauge = (name: string, help: string) => metrics.gauge({ name, help, labels: TYPE });
    this.#rate = metrics.gauge({
      name: "unacked_task_rate",
      help: `Tasks a second ${LATELY}: created, completed, failed (given up), cancelled, retried (attempts that are made again).`,
      labels: { kind: KINDS, ...TYPE },
    });
    this.#load = gauge(
      "unacked_task_load_ratio",
      `The work that arrived ${LATELY} by what can be done, as if the type had all its workers for itself. Above 1 what waits grows. Missing where nobody can say.`,
    );
    this.#poolLoad = metrics.gauge({
      name: "unacked_task_pool_load_ratio",
      help: "The same of all types of a pool together. Missing without task workers.",
      labels: { pool: `pools, ${MAX_NAMED} at most` },
    });
    this.#mean = gauge("unacked_task_running_seconds_mean", `How long attempts ran that completed or failed ${LATELY}.`);
    this.#p95 = gauge("unacked_task_running_seconds_p95", "Within so long 95 of 100 of these ended; at most 19 % off.");
  }

  /** `undefined` means that they could not be read. */
  show(figures: TaskFiguresUndrawn | undefined): void {
    for (const gauge of [this.#rate, this.#load, this.#poolLoad, this.#mean, this.#p95]) gauge.reset();
    if (figures === undefined) return;
    const weightOf = ({ lately, waiting, running }: (typeof figures.items)[number]) => lately.created + waiting + running;
    for (const item of figures.items.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, MAX_NAMED)) {
      const { type, loadPercent, lately } = item;
      const seconds = (Date.parse(figures.at) - Date.parse(lately.since)) / 1_000;
      for (const kind of KINDS) this.#rate.set({ kind, type }, lately[kind] / seconds);
      if (loadPercent !== null) this.#load.set({ type }, loadPercent / 100);
      if (lately.meanMs !== null) this.#mean.set({ type }, lately.meanMs / 1_000);
      if (lately.p95Ms !== null) this.#p95.set({ type }, lately.p95Ms / 1_000);
    }
    for (const { pool, loadPercent } of figures.pools.slice(0, MAX_NAMED))
      if (loadPercent !== null) this.#poolLoad.set({ pool }, loadPercent / 100);
  }
}
