import {
  RELOAD_OUTCOMES,
  type ReloadOutcome,
  RUN_STOPPED_REASONS,
  reasonOfRelease,
  type ServiceEvent,
  StartRefused,
  TASK_OUTCOMES,
} from "@unacked/contracts";
import { addBrokerMetrics, MetricSet } from "@unacked/metrics";
import type { ServiceIdentity } from "../keeper/identity.ts";
import type { LeaseLoss } from "../keeper/lease/lease.ts";
import type { RunState } from "../keeper/runs/run-machine.ts";
import type { SlotsView } from "../keeper/slots/slot-history.ts";
import { type HealthView, isReady } from "./health-server.ts";
import { addSlotMetrics } from "./slot-metrics.ts";

export interface ServiceMetricsParts {
  identity: Pick<ServiceIdentity, "workerCount">;
  health(): HealthView;
  /** The phase of every run that this service holds. */
  phases(): Iterable<RunState["phase"]>;
  /** How many runs are silent for longer than they may without a warning. */
  silent(): number;
  handlers: Omit<SlotsView, "memory" | "collect">;
}

const PHASES = [
  "waiting",
  "requested",
  "running",
  "backing-off",
  "stopping",
  "reporting",
] as const satisfies RunState["phase"][];
const LOSSES = ["deadline-passed", "session-lost", "taken-back", "process-failed"] as const satisfies LeaseLoss[];
const TASK_ENDS = [...TASK_OUTCOMES, "released", "returned"] as const;
const ENDS = [...RUN_STOPPED_REASONS, "completed", "failed", "draining", "moved", "type-gone", "lease-lost"];

/** The metrics of a service beside those of its process: `unacked_service_…` is its own (take the sum). */
export class ServiceMetrics {
  readonly set = new MetricSet();
  readonly #starts;
  readonly #ends;
  readonly #retries;
  readonly #silences;
  readonly #refused;
  readonly #duplicates;
  readonly #deliveries;
  readonly #fences;
  readonly #outputs;
  readonly #taskEnds;
  readonly #reloads;

  constructor(parts: ServiceMetricsParts) {
    const metrics = this.set;
    addBrokerMetrics(metrics, () => ({ consume: parts.health().consumer, publish: parts.health().publisher }));
    addStateOfService(metrics, parts);
    addSlotMetrics(metrics, parts.handlers);
    this.#starts = metrics.counter({
      name: "unacked_service_run_starts_total",
      help: "Handlers that were started: the first attempt of a run, or a later one.",
      labels: { attempt: ["first", "later"] },
    });
    this.#ends = metrics.counter({
      name: "unacked_service_runs_ended_total",
      help: "Runs that ended here, by why.",
      labels: { reason: ENDS },
    });
    this.#retries = metrics.counter({
      name: "unacked_service_retries_total",
      help: "Attempts that failed and are followed by another one.",
    });
    this.#silences = metrics.counter({
      name: "unacked_service_silence_failures_total",
      help: "Attempts that failed because the handler was silent for as long as it may.",
    });
    this.#refused = metrics.counter({
      name: "unacked_service_starts_refused_total",
      help: "Starts that were not run, by why.",
      labels: { reason: StartRefused.shape.reason.options },
    });
    this.#duplicates = metrics.counter({
      name: "unacked_service_duplicates_dropped_total",
      help: "Second messages of a revision that runs here, dropped unrun.",
    });
    this.#deliveries = metrics.counter({
      name: "unacked_service_deliveries_total",
      help: "Messages taken from the work queue; redelivered: another service perhaps had it before.",
      labels: { redelivered: ["true", "false"] },
    });
    this.#fences = metrics.counter({
      name: "unacked_service_fences_total",
      help: "Leases that were lost, each with every run aborted at once, by why.",
      labels: { why: LOSSES },
    });
    this.#outputs = metrics.counter({
      name: "unacked_service_outputs_total",
      help: "What observers emitted, by whether the broker has it.",
      labels: { outcome: ["confirmed", "failed"] },
    });
    this.#taskEnds = metrics.counter({
      name: "unacked_service_tasks_ended_total",
      help: "Attempts of tasks that ended here, by how; released: given back to the queue.",
      labels: { outcome: TASK_ENDS },
    });
    this.#reloads = metrics.counter({
      name: "unacked_service_reloads_total",
      help: "Loads of the folder that were asked for, by SIGHUP or by an order; refused: the old code stays in use.",
      labels: { outcome: RELOAD_OUTCOMES },
    });
  }

  reloaded(outcome: ReloadOutcome): void {
    this.#reloads.inc({ outcome });
  }

  taskEnded(outcome: (typeof TASK_ENDS)[number]): void {
    this.#taskEnds.inc({ outcome });
  }

  delivered(redelivered: boolean): void {
    this.#deliveries.inc({ redelivered: String(redelivered) });
  }

  started(attempt: number): void {
    this.#starts.inc({ attempt: attempt === 1 ? "first" : "later" });
  }

  fenced(why: LeaseLoss): void {
    this.#fences.inc({ why });
  }

  emitted(outcome: "confirmed" | "failed"): void {
    this.#outputs.inc({ outcome });
  }

  /** Counts an event that is sent to the manager. */
  told(event: ServiceEvent): void {
    switch (event.kind) {
      case "RunRetrying":
        if (event.error.name === "SilentError") this.#silences.inc();
        return this.#retries.inc();
      case "RunReleased":
        return this.#ends.inc({ reason: reasonOfRelease(event) });
      case "RunStopped":
        return this.#ends.inc({ reason: event.reason });
      case "RunCompleted":
        return this.#ends.inc({ reason: "completed" });
      case "RunFailed":
        if (event.error.name === "SilentError") this.#silences.inc();
        return this.#ends.inc({ reason: "failed" });
      case "StartRefused":
        return this.#refused.inc({ reason: event.reason });
      case "DuplicateDropped":
        return this.#duplicates.inc();
      case "RunRequested":
      case "CheckpointSaved":
      case "RunUpdated":
      case "RunStarted": // it is also sent when a run gets its attempts back, and about silence
      case "RunHeld":
      case "ServiceBorn":
      case "ServiceAlive":
      case "MarkerSeen":
      case "ReloadEnded":
      case "ServiceDied":
      case "Inventory":
        return;
      default:
        return event satisfies never;
    }
  }
}

/** Reads the service's state at each scrape. */
function addStateOfService(metrics: MetricSet, { identity, health, phases, silent }: ServiceMetricsParts): void {
  metrics
    .gauge({ name: "unacked_service_workers", help: "How many observers this service runs at once." })
    .set(identity.workerCount);
  const shown = (name: string, help: string, read: (view: HealthView) => number) =>
    metrics.gauge({ name, help, collect: (gauge) => gauge.set(read(health())) });
  shown("unacked_service_task_workers", "How many tasks this service runs at once.", (view) => view.taskWorkers);
  shown("unacked_service_tasks", "Tasks that run here now.", (view) => view.tasksRunning);
  shown("unacked_service_ready", "1 while it can take a start, run it and tell of it.", (view) => Number(isReady(view)));
  shown(
    "unacked_service_consuming",
    "1 while it takes observers from the work queue; 0 also while WORKER_COUNT=auto has no memory for more.",
    (view) => Number(view.consuming),
  );
  shown(
    "unacked_service_room",
    "For how many more observers it has workers, and with WORKER_COUNT=auto memory.",
    (view) => view.room,
  );
  shown("unacked_service_lease_held", "1 while its lease is held; without it nothing runs.", (view) =>
    Number(view.leaseHeld),
  );
  shown("unacked_service_draining", "1 once it takes nothing any more: it was told to drain, or to end.", (view) =>
    Number(view.draining),
  );
  shown("unacked_service_cordoned", "1 while it takes nothing more, and runs on what it runs: it is cordoned.", (view) =>
    Number(view.cordoned),
  );
  shown(
    "unacked_service_events_waiting",
    "Events that the broker has not confirmed yet: the service's share of the state lag.",
    (view) => view.eventsWaiting,
  );
  metrics.gauge({
    name: "unacked_service_silent_runs",
    help: "Runs on this service whose handler has neither emitted nor said that it is alive for longer than its warnAfterMs.",
    collect: (gauge) => gauge.set(silent()),
  });
  metrics.gauge({
    name: "unacked_service_runs",
    help: "Runs on this service by phase; backing-off ones wait for their next attempt.",
    labels: { phase: PHASES },
    collect: (gauge) => {
      for (const phase of PHASES) gauge.set({ phase }, 0);
      for (const phase of phases()) if (phase !== "over") gauge.inc({ phase });
    },
  });
}
