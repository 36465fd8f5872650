import { ERROR_QUEUE, ErrorReason, RUN_END_REASONS, STATE_QUEUE, TASK_STATE_QUEUE } from "@unacked/contracts";
import type { MetricSet } from "@unacked/metrics";
import { COMMAND_KINDS } from "../../domain/books/command.ts";
import type { Happening } from "../../domain/books/happening.ts";
import type { RepairCounts } from "../../operations/observers/reconciler.ts";
import type { AppliedBatches, Tally } from "../../operations/tally.ts";

const REPAIR_KINDS = {
  sentAgain: "sent-again",
  sentElsewhere: "sent-elsewhere",
  deletionsConcluded: "deletion-concluded",
  pausesConcluded: "pause-concluded",
  inventoriesAsked: "inventory-asked",
} as const satisfies Record<keyof RepairCounts, string>;

export interface FlowFigures {
  repairs(): Readonly<RepairCounts>;
  /** For how long the messages of our own queues have failed, in ms; 0 while all goes well. */
  failingForMs(): Record<"state" | "tasks" | "error", number>;
}

/** What this manager has done since it began. The one that reads the state queue counts; the others stand still. */
export class OperationMetrics implements Tally {
  readonly #batches;
  readonly #applySeconds;
  readonly #stateLagSeconds;
  readonly #runsStarted;
  readonly #runsEnded;
  readonly #failovers;
  readonly #duplicates;
  readonly #servicesEnded;
  readonly #commands;
  readonly #putAside;

  constructor(metrics: MetricSet, { repairs, failingForMs }: FlowFigures) {
    this.#batches = metrics.counter({
      name: "unacked_manager_batches_total",
      help: "Messages of the state queue that were applied to the books.",
    });
    this.#applySeconds = metrics.histogram({
      name: "unacked_manager_apply_duration_seconds",
      help: "How long a transaction took that applied messages of the state queue.",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    });
    this.#stateLagSeconds = metrics.histogram({
      name: "unacked_manager_state_lag_seconds",
      help: "State lag: from the oldest event of a transaction to its commit, by the clocks of service and manager.",
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    });
    this.#runsStarted = metrics.counter({
      name: "unacked_manager_runs_started_total",
      help: "Runs that the books met: first starts, restarts and failovers.",
    });
    this.#runsEnded = metrics.counter({
      name: "unacked_manager_runs_ended_total",
      help: "Runs that ended, by why.",
      labels: { reason: RUN_END_REASONS },
    });
    this.#failovers = metrics.histogram({
      name: "unacked_manager_failover_duration_seconds",
      help: "Observers that went on at another run without being restarted: for how long the books knew of none. 0 when the next run was heard of first, as after a kill.",
      buckets: [0, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    });
    this.#duplicates = metrics.counter({
      name: "unacked_manager_duplicates_ended_total",
      help: "Duplicates that were ended: a second run of a revision, or a second message that a service dropped unrun.",
      labels: { what: ["run", "message"] },
    });
    this.#servicesEnded = metrics.counter({
      name: "unacked_manager_services_ended_total",
      help: "Services that ended: they said so (stopped), or their connection was found dead (gone).",
      labels: { how: ["stopped", "gone"] },
    });
    this.#commands = metrics.counter({
      name: "unacked_manager_commands_total",
      help: "Commands given to the broker; gone: the service it was for is dead, failed: sent again later; held-up: its pool's queue cannot be had, sent when it can.",
      labels: { kind: COMMAND_KINDS, outcome: ["sent", "gone", "failed", "held-up"] },
    });
    this.#putAside = metrics.counter({
      name: "unacked_manager_errors_total",
      help: "Messages that were put to the errors (GET /api/v1/errors), by why.",
      labels: { reason: ErrorReason.options },
    });
    metrics.gauge({
      name: "unacked_manager_failing_seconds",
      help: "For how long messages of a queue have been tried again and again in vain; 0 while all goes well.",
      labels: { queue: [STATE_QUEUE, TASK_STATE_QUEUE, ERROR_QUEUE] },
      collect: (gauge) => {
        const { state, tasks, error } = failingForMs();
        gauge.set({ queue: STATE_QUEUE }, state / 1_000);
        gauge.set({ queue: TASK_STATE_QUEUE }, tasks / 1_000);
        gauge.set({ queue: ERROR_QUEUE }, error / 1_000);
      },
    });
    metrics.counter({
      name: "unacked_manager_repairs_total",
      help: "What the reconciler repaired: observers sent again, deletions concluded, inventories asked for. Sent-elsewhere: what has changed its pool, and nobody had taken; nothing was lost.",
      labels: { kind: Object.values(REPAIR_KINDS) },
      collect: (counter) => {
        counter.reset();
        const counts = repairs();
        for (const [key, kind] of Object.entries(REPAIR_KINDS)) counter.inc({ kind }, counts[key as keyof RepairCounts]);
      },
    });
  }

  applied({ messages, tookMs, oldestEventMs, happened }: AppliedBatches): void {
    if (messages > 0) this.#applySeconds.observe(tookMs / 1_000);
    this.#batches.inc(messages);
    if (oldestEventMs !== null) this.#stateLagSeconds.observe(oldestEventMs / 1_000);
    for (const each of happened) this.#count(each);
  }

  sent(...[kind, outcome]: Parameters<Tally["sent"]>): void {
    this.#commands.inc({ kind, outcome });
  }

  putAside(reasons: readonly ErrorReason[]): void {
    for (const reason of reasons) this.#putAside.inc({ reason });
  }

  #count(happening: Happening): void {
    switch (happening.kind) {
      case "run-started":
        return this.#runsStarted.inc();
      case "run-ended":
        if (happening.reason === "duplicate") this.#duplicates.inc({ what: "run" });
        return this.#runsEnded.inc({ reason: happening.reason });
      case "failed-over":
        return this.#failovers.observe(happening.withoutRunMs / 1_000);
      case "duplicate-dropped":
        return this.#duplicates.inc({ what: "message" });
      case "service-ended":
        return this.#servicesEnded.inc({ how: happening.how === "Gone" ? "gone" : "stopped" });
      default:
        return happening satisfies never;
    }
  }
}
