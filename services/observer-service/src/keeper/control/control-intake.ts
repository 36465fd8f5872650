import type { Delivery } from "@unacked/broker";
import {
  type Admit,
  type CancelTasks,
  ControlMessage,
  decodeList,
  type Inventory,
  type InventoryProof,
  type LeftOut,
  type ReadLogs,
  type ReportInventory,
  type ReportTasks,
  type RestartRuns,
  type RunReleased,
  type RunStarted,
  type RunStopped,
  type RunStopReason,
  type ServiceBorn,
  type ServiceEvent,
  type ShedRuns,
  type StopObservers,
  type StopRuns,
  type TellCheckpoints,
  type UpdateRuns,
} from "@unacked/contracts";
import type { Log } from "../../log.ts";
import { endsForGood, type StopCause } from "../../wire/stop-cause.ts";
import type { Tombstones } from "../intake/tombstones.ts";
import type { ErrorReporter } from "../outbox/error-reporter.ts";
import { admit, attemptOf, type LiveRun, quietForMs, standingOf } from "../runs/live-run.ts";
import { heldBy } from "../runs/run-held.ts";
import type { RunTracing } from "../runs/run-tracing.ts";
import type { Runner } from "../runs/runner.ts";
import { takeInventory } from "./inventory.ts";
import type { Orders } from "./orders.ts";

export interface ControlParts {
  readonly runner: Runner;
  /** What this service is. */
  readonly introduce: () => ServiceBorn;
  /** Those to the service as a whole. */
  readonly orders: Pick<Orders, "drain" | "cordon" | "uncordon" | "give" | "stepAside" | "reload">;
  readonly logs: { answer(request: ReadLogs): void };
  readonly tasks: { cancel(order: CancelTasks): void; report(order: ReportTasks, generation: number): Promise<void> };
  readonly tombstones: Tombstones;
  readonly errors: Pick<ErrorReporter, "report">;
  readonly events: { tell(event: ServiceEvent): void };
  readonly holds: (generation: number) => boolean;
  /** The broker has taken back what it had given to this generation. */
  readonly takenBack: (generation: number) => void;
  /** Whose messages it has given back: those that it was given unrun, and those of runs that have ended. */
  readonly givenBack: () => Required<Inventory>["givenBack"];
  /** Resolves when what the broker has sent for work until now has come in. Rejects when the session is lost. */
  readonly flushed: () => Promise<void>;
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
    const decoded = decodeList(ControlMessage, "targets", delivery.body);
    if (!decoded.ok) return void this.#refuseUnreadable(delivery, decoded.reason);
    if (decoded.leftOut.length > 0) this.#refuseSome(decoded.value, decoded.leftOut, delivery);
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
      case "Admit":
        return this.#admit(message, delivery);
      case "TellCheckpoints":
        return this.#tellCheckpoints(message);
      case "UpdateRuns":
        return this.#updateRuns(message, delivery);
      case "ReportInventory":
        return this.#reportInventory(message, delivery.generation);
      case "Probe":
        return;
      case "Drain":
        return this.#parts.orders.drain(message.sentAtMs);
      case "Cordon":
        return this.#parts.orders.cordon(message.sentAtMs);
      case "Uncordon":
        return this.#parts.orders.uncordon(message.sentAtMs);
      case "ShedRuns":
        return this.#shed(message, delivery);
      case "StepAside":
        return this.#parts.orders.stepAside();
      case "Reload":
        return this.#parts.orders.reload(message.reloadId);
      case "ReadLogs":
        return this.#parts.logs.answer(message);
      case "CancelTasks":
        return this.#parts.tasks.cancel(message);
      case "ReportTasks":
        return void this.#parts.tasks.report(message, delivery.generation);
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
      if (run === undefined || run.start.messageId !== target.messageId) events.tell(endOfNoRun(identity, reason));
      else if (reason === "superseded") this.#answerSuperseded(run);
      else if (reason === "taken-back") this.#answerTakenBack(run);
      else this.#stop(run, { kind: reason }, order);
    }
  }

  /** A run that is ending answers by its end; one without a lease has been fenced, and answers likewise. */
  #answerSuperseded(run: LiveRun): void {
    const { events, holds } = this.#parts;
    const held = holds(run.delivery.generation) ? heldBy(run) : undefined;
    if (held !== undefined) events.tell(held);
  }

  /** It answers by its end, as all runs of its generation do; one of an earlier generation has been fenced already. */
  #answerTakenBack(run: LiveRun): void {
    run.announced = true;
    this.#parts.takenBack(run.delivery.generation);
  }

  #restartRuns({ targets }: RestartRuns, order: Delivery): void {
    const { runner, holds } = this.#parts;
    for (const { observerId, runId } of targets) {
      const run = runner.slots.find(observerId, runId);
      if (run !== undefined && holds(run.delivery.generation)) this.#stop(run, { kind: "restarted" }, order);
    }
  }

  /** One that has begun says so again; so does one that waits for a slot, to the same once more; one that is ending answers by its end. */
  #admit({ targets }: Admit, order: Delivery): void {
    const { runner, events, holds } = this.#parts;
    for (const { epoch, spec, checkpoint, ...identity } of targets) {
      const run = this.#runOf(identity);
      if (run === undefined || !holds(run.delivery.generation)) continue;
      if (run.state.phase === "running") events.tell(startedAgain(run));
      else {
        this.#parts.tracing?.ordered(run, order);
        if (admit(run, { epoch, ownEpochs: 0, checkpoint }, spec)) runner.admitted(run);
        else runner.admittedAgain(run);
      }
    }
  }

  #tellCheckpoints({ targets }: TellCheckpoints): void {
    for (const identity of targets) {
      const run = this.#runOf(identity);
      if (run !== undefined) this.#parts.runner.tellCheckpoint(run);
    }
  }

  #updateRuns({ targets }: UpdateRuns, order: Delivery): void {
    const { runner, holds, tracing } = this.#parts;
    for (const { spec, ...identity } of targets) {
      const run = this.#runOf(identity);
      if (run === undefined || !holds(run.delivery.generation)) continue;
      tracing?.ordered(run, order);
      runner.update(run, spec);
    }
  }

  #shed({ targets }: ShedRuns, order: Delivery): void {
    const { holds, orders, tracing } = this.#parts;
    const given: LiveRun[] = [];
    for (const identity of targets) {
      const run = this.#runOf(identity);
      if (run !== undefined && holds(run.delivery.generation) && !isEnding(run)) given.push(run);
    }
    for (const run of given) tracing?.ordered(run, order);
    if (given.length > 0) orders.give(given);
  }

  /** The run that an order is about. Undefined: it is gone, and is told to have lost its message, as far as is known here. */
  #runOf({ observerId, runId, messageId, revision }: RunIdentity): LiveRun | undefined {
    const { runner, events } = this.#parts;
    const run = runner.slots.find(observerId, runId);
    if (run?.start.messageId === messageId) return run;
    events.tell(released({ observerId, runId, messageId, revision }));
    return undefined;
  }

  #stop(run: LiveRun, cause: StopCause, order: Delivery): void {
    this.#parts.tracing?.ordered(run, order);
    this.#parts.runner.stop(run, cause);
  }

  /** What it has now. */
  #reportInventory({ proof }: ReportInventory, generation: number): void {
    if (proof === undefined) return this.#tellInventory();
    void this.#proveInventory(proof, generation);
  }

  /**
   * For a proof of absence it has to be whole: behind what is on its way here, and under a held lease, as a fenced service's
   * messages are neither its runs nor anybody else's yet. What is not answered is asked again.
   */
  async #proveInventory(proof: InventoryProof, generation: number): Promise<void> {
    const { flushed, holds, log } = this.#parts;
    try {
      await flushed();
      if (holds(generation)) this.#tellInventory(proof);
    } catch (error) {
      log.debug({ event: "inventory-abandoned", error: String(error) }, "it could not be proven whole; it is asked again");
    }
  }

  #tellInventory(proof?: InventoryProof): void {
    const { runner, events, givenBack, introduce } = this.#parts;
    const runs = runner.slots.all();
    for (const run of runs) run.announced = true;
    // A manager that has to ask may not know who we are either.
    const introduction = introduce();
    events.tell(introduction);
    const about = { draining: introduction.draining, proof, givenBack: givenBack() };
    for (const part of takeInventory(runs, Date.now(), about)) events.tell(part);
  }

  /** Of many orders in one message those that are understood are followed. */
  #refuseSome(message: ControlMessage, leftOut: readonly LeftOut[], { queue }: Delivery): void {
    const body = Buffer.from(JSON.stringify({ ...message, targets: leftOut.map(({ item }) => item) }));
    void this.#refuseUnreadable({ queue, body }, leftOut.map(({ reason }) => reason).join("; "));
  }

  async #refuseUnreadable(delivery: Pick<Delivery, "queue" | "body">, reason: string): Promise<void> {
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

/** It has failed for good, or has been told to end: nobody need step aside for it. */
const isEnding = ({ state }: LiveRun): boolean =>
  state.phase === "reporting" || (state.phase === "stopping" && endsForGood(state.cause));

function startedAgain(run: LiveRun): RunStarted {
  const { observerId, messageId, revision, specVersion } = run.start;
  const identity = { observerId, runId: run.runId, messageId, revision, at: Date.now() };
  const about = { attempt: attemptOf(run), deliveryCount: run.delivery.deliveryCount, quietForMs: quietForMs(run) };
  return { kind: "RunStarted", ...identity, ...about, specVersion, ...standingOf(run) };
}

type RunIdentity = Pick<RunStopped, "observerId" | "runId" | "messageId" | "revision">;

const released = (identity: RunIdentity): RunReleased => ({
  kind: "RunReleased",
  ...identity,
  at: Date.now(),
  reason: "lease-lost",
});

/** The answer for a run that is not here: its message is not either. */
const endOfNoRun = (identity: RunIdentity, reason: RunStopReason): RunStopped | RunReleased =>
  reason === "taken-back" ? released(identity) : { kind: "RunStopped", ...identity, at: Date.now(), reason };
