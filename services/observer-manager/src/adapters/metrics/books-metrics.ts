import {
  ERROR_QUEUE,
  OBSERVER_STATUSES,
  STATE_QUEUE,
  type Stats,
  TASK_STATE_QUEUE,
  WARNING_CODES,
} from "@unacked/contracts";
import type { MetricSet } from "@unacked/metrics";
import { COMMAND_KINDS } from "../../domain/books/command.ts";
import type { CommandCount } from "../../operations/commands/command-store.ts";

/** How many pools and types are shown, those with the most observers: clients choose their names freely. */
const MAX_NAMED = 100;
/** The name under which the rest is counted together. */
const OTHERS = "(others)";

const POOL = {
  pool: `pools, the ${MAX_NAMED} largest, and as many others that have observers and no service; the rest together as ${OTHERS}`,
};
const KIND = { kind: COMMAND_KINDS };

/** Gauges of the database's state at the scrape, the same at every manager. */
export class BooksMetrics {
  readonly #observers;
  readonly #oldestWaiting;
  readonly #pools;
  readonly #warnings;
  readonly #queueReady;
  readonly #queueConsumers;
  readonly #stateLag;
  readonly #commands;
  readonly #commandLag;
  readonly #commandAge;

  constructor(metrics: MetricSet) {
    this.#observers = metrics.gauge({
      name: "unacked_observers",
      help: "Observers by status and type.",
      labels: { status: OBSERVER_STATUSES, type: `types, the ${MAX_NAMED} most used; the rest together as ${OTHERS}` },
    });
    this.#oldestWaiting = metrics.gauge({
      name: "unacked_oldest_waiting_seconds",
      help: "For how long the observer that has been Created or Redistributing for longest has been so, or one that found no worker at its time has been late; 0 without one.",
    });
    this.#pools = poolGauges(metrics);
    this.#warnings = metrics.gauge({
      name: "unacked_warnings",
      help: "What is wrong now, by code, as GET /api/v1/stats says it with the remedies.",
      labels: { code: WARNING_CODES },
    });
    this.#queueReady = metrics.gauge({
      name: "unacked_queue_ready",
      help: "Messages that wait in a queue and that nobody holds; the observers that run are not among them.",
      labels: { queue: "the state queues of observers and of tasks, the error queue, the work queues of pools shown" },
    });
    this.#queueConsumers = metrics.gauge({
      name: "unacked_queue_consumers",
      help: "Consumers of a queue.",
      labels: { queue: "as with unacked_queue_ready" },
    });
    this.#stateLag = metrics.gauge({
      name: "unacked_state_queue_batches",
      help: "State lag: batches of events that wait to be read into the books. Missing while the broker cannot be asked.",
    });
    this.#commands = metrics.gauge({
      name: "unacked_commands",
      help: "Commands that are not sent, or not answered, yet.",
      labels: KIND,
    });
    this.#commandLag = metrics.gauge({
      name: "unacked_command_lag_seconds",
      help: "Command lag: for how long the command that is due for longest has been due. One that could not be sent is due since it first was.",
      labels: KIND,
    });
    this.#commandAge = metrics.gauge({
      name: "unacked_command_oldest_seconds",
      help: "The age of the oldest command: a stop is kept, and sent again, until it is answered.",
      labels: KIND,
    });
  }

  /** `undefined` means that they could not be read. */
  showStats(stats: Stats | undefined): void {
    for (const gauge of [this.#observers, this.#warnings, this.#queueReady, this.#queueConsumers]) gauge.reset();
    for (const gauge of Object.values(this.#pools)) gauge.reset();
    // A gauge without labels would be reset to 0, which would claim something, so it is removed.
    this.#stateLag.remove();
    this.#oldestWaiting.remove();
    if (stats === undefined) return;
    this.#showObservers(stats);
    this.#showPools(stats);
    this.#showQueues(stats);
    for (const code of WARNING_CODES) this.#warnings.set({ code }, 0);
    for (const { code } of stats.warnings) this.#warnings.inc({ code });
  }

  /** `undefined` means that they could not be read. */
  showCommands(commands: readonly CommandCount[] | undefined): void {
    for (const gauge of [this.#commands, this.#commandLag, this.#commandAge]) gauge.reset();
    if (commands === undefined) return;
    for (const kind of COMMAND_KINDS) {
      const { count, overdueS, oldestS } = commands.find((one) => one.kind === kind) ?? NONE;
      this.#commands.set({ kind }, count);
      this.#commandLag.set({ kind }, overdueS);
      this.#commandAge.set({ kind }, oldestS);
    }
  }

  #showObservers({ observers, oldestWaiting }: Stats): void {
    this.#oldestWaiting.set((oldestWaiting?.waitingMs ?? 0) / 1_000);
    for (const [index, { type, byStatus }] of observers.byType.entries())
      for (const status of OBSERVER_STATUSES)
        this.#observers.inc({ type: index < MAX_NAMED ? type : OTHERS, status }, byStatus[status]);
  }

  #showPools({ workers }: Stats): void {
    const pools = workers.byPool.toSorted((a, b) => b.workers - a.workers || b.occupied - a.occupied);
    // Unserved pools have the fewest workers, so they may be cut off, but an alert has to name them.
    const unserved = pools.slice(MAX_NAMED).filter(({ services, occupied }) => services === 0 && occupied > 0);
    const named = new Set([...pools.slice(0, MAX_NAMED), ...unserved.slice(0, MAX_NAMED)]);
    for (const each of pools) {
      const pool = named.has(each) ? each.pool : OTHERS;
      this.#pools.services.inc({ pool }, each.services);
      this.#pools.workers.inc({ pool }, each.workers);
      this.#pools.occupied.inc({ pool }, each.occupied);
      this.#pools.free.inc({ pool }, each.free);
      this.#pools.desired.inc({ pool }, each.desired);
      this.#pools.silent.inc({ pool }, each.silent);
    }
  }

  #showQueues({ queues, stateQueueLag, workers }: Stats): void {
    if (stateQueueLag !== null) this.#stateLag.set(stateQueueLag);
    const shown = queues ?? [];
    const withoutOthers =
      workers.byPool.length > MAX_NAMED ? shown.filter(({ queue }) => OWN_QUEUES.includes(queue)) : shown;
    for (const { queue, ready, consumers } of withoutOthers) {
      this.#queueReady.set({ queue }, ready);
      this.#queueConsumers.set({ queue }, consumers);
    }
  }
}

const OWN_QUEUES = [STATE_QUEUE, ERROR_QUEUE, TASK_STATE_QUEUE];
const NONE = { count: 0, overdueS: 0, oldestS: 0 };

function poolGauges(metrics: MetricSet) {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help, labels: POOL });
  return {
    services: gauge("unacked_services", "Living services."),
    workers: gauge(
      "unacked_workers",
      "Workers of living services that take work, and as many as are busy on cordoned ones.",
    ),
    occupied: gauge("unacked_workers_occupied", "Observers that take or await a worker; more than workers when some wait."),
    free: gauge("unacked_workers_free", "Workers that no observer takes or awaits."),
    silent: gauge(
      "unacked_observers_silent",
      "Observers that run, and have neither emitted nor said that they are alive for longer than their warnAfterMs.",
    ),
    desired: gauge(
      "unacked_workers_desired",
      "Workers that would suffice for all observers even if the service with the most workers died: for autoscalers.",
    ),
  };
}
