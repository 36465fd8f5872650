import type { Delivery } from "@unacked/broker";
import {
  ControlMessage,
  decodeBody,
  type ReadLogs,
  type RestartRuns,
  type RunHeld,
  type RunStopped,
  type ServiceEvent,
  type StopObservers,
  type StopRuns,
} from "@unacked/contracts";
import type { ErrorReporter } from "./error-reporter.ts";
import { takeInventory } from "./inventory.ts";
import type { LiveRun } from "./live-run.ts";
import type { Log } from "./log.ts";
import type { RunTracing } from "./run-tracing.ts";
import type { Runner } from "./runner.ts";
import type { StopCause } from "./stop-cause.ts";
import type { Tombstones } from "./tombstones.ts";

export interface ControlParts {
  readonly runner: Runner;
  /** What this service is. */
  readonly introduce: () => ServiceEvent;
  /** Take nothing more, and give back what runs; to be repeated without harm. */
  readonly drain: () => void;
  readonly logs: { answer(request: ReadLogs): void };
  readonly tombstones: Tombstones;
  readonly errors: Pick<ErrorReporter, "report">;
  readonly events: { tell(event: ServiceEvent): void };
  readonly holds: (generation: number) => boolean;
  readonly log: Log;
  /** Undefined: nothing is traced. */
  readonly tracing?: RunTracing | undefined;
  /** Aborts when the process ends. */
  readonly closing: AbortSignal;
}

/**
 * Comes in: what the manager tells this service, or all. Guarantees: every order to a run is answered by that run's end,
 * by RunHeld, or at once when there is no such run; stops of observers are remembered. A crash forgets the order; the
 * manager sends it again until it is answered. A question about logs alone is asked once, and its answer may be dropped.
 */
export class ControlIntake {
  readonly #parts: ControlParts;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  take(delivery: Delivery): void {
    const decoded = decodeBody(ControlMessage, delivery.body);
    if (!decoded.ok) return void this.#refuseUnreadable(delivery, decoded.reason);
    // Asked first, so that a process which slept through its lease fences before it says what it runs.
    this.#parts.holds(delivery.generation);
    const message = decoded.value;
    switch (message.kind) {
      case "StopObservers":
        return this.#stopObservers(message, delivery);
      case "StopRuns":
        return this.#stopRuns(message, delivery);
      case "RestartRuns":
        return this.#restartRuns(message, delivery);
      case "ReportInventory":
        return this.#reportInventory();
      case "Probe":
        return;
      case "Drain":
        return this.#parts.drain();
      case "ReadLogs":
        return this.#parts.logs.answer(message);
      default:
        return message satisfies never;
    }
  }

  /** Remembered also for observers that run here: their message may come again if the lease is lost before the ack. */
  #stopObservers({ targets }: StopObservers, order: Delivery): void {
    const { runner, tombstones } = this.#parts;
    for (const { observerId, revision } of targets) {
      tombstones.remember(observerId, revision, performance.now());
      for (const run of runner.slots.ofObserver(observerId)) {
        if (run.start.revision <= revision) this.#stop(run, { kind: "stopped" }, order);
      }
    }
  }

  #stopRuns({ targets }: StopRuns, order: Delivery): void {
    const { runner, events } = this.#parts;
    for (const target of targets) {
      const { reason, ...identity } = target;
      const run = runner.slots.find(target.observerId, target.runId);
      if (run === undefined || run.start.messageId !== target.messageId) {
        const answer: RunStopped = { kind: "RunStopped", ...identity, at: Date.now(), reason };
        events.tell(answer);
      } else if (reason === "superseded") this.#answerSuperseded(run);
      else this.#stop(run, { kind: reason }, order);
    }
  }

  /** A run that is ending answers by its end; one without a lease has been fenced, and answers likewise. */
  #answerSuperseded(run: LiveRun): void {
    const { events, holds } = this.#parts;
    const goesOn = run.state.phase === "waiting" || run.state.phase === "running" || run.state.phase === "backing-off";
    if (!holds(run.delivery.generation) || !goesOn) return;
    const { observerId, messageId, revision } = run.start;
    const held: RunHeld = { kind: "RunHeld", observerId, runId: run.runId, messageId, revision, at: Date.now() };
    run.announced = true;
    events.tell(held);
  }

  #restartRuns({ targets }: RestartRuns, order: Delivery): void {
    const { runner, holds } = this.#parts;
    for (const { observerId, runId } of targets) {
      const run = runner.slots.find(observerId, runId);
      if (run !== undefined && holds(run.delivery.generation)) this.#stop(run, { kind: "restarted" }, order);
    }
  }

  #stop(run: LiveRun, cause: StopCause, order: Delivery): void {
    this.#parts.tracing?.ordered(run, order);
    this.#parts.runner.stop(run, cause);
  }

  #reportInventory(): void {
    const runs = this.#parts.runner.slots.all();
    for (const run of runs) run.announced = true;
    // Whoever has to ask may not know who we are either.
    this.#parts.events.tell(this.#parts.introduce());
    for (const part of takeInventory(runs, Date.now())) this.#parts.events.tell(part);
  }

  async #refuseUnreadable(delivery: Delivery, reason: string): Promise<void> {
    const { errors, log, closing } = this.#parts;
    log.error(
      { event: "unreadable-message", queue: delivery.queue, reason },
      "a control message could not be read; it goes to the error queue",
    );
    try {
      await errors.report({ reason: "unreadable", detail: reason }, delivery, closing);
    } catch (error) {
      log.debug({ event: "report-abandoned", error: String(error) }, "the process ends");
    }
  }
}
