import type { Delivery } from "@unacked/broker";
import type {
  Admit,
  RestartRuns,
  RunReleased,
  RunStarted,
  RunStopped,
  RunStopReason,
  ServiceEvent,
  ShedRuns,
  StopObservers,
  StopRuns,
  TellCheckpoints,
  UpdateRuns,
} from "@unacked/contracts";
import { endsForGood, type StopCause } from "../../wire/stop-cause.ts";
import type { Tombstones } from "../intake/tombstones.ts";
import { admit, attemptOf, type LiveRun, quietForMs, standingOf } from "../runs/live-run.ts";
import { heldBy } from "../runs/run-held.ts";
import type { RunTracing } from "../runs/run-tracing.ts";
import type { Runner } from "../runs/runner.ts";
import type { Orders } from "./orders.ts";

export interface RunOrdersParts {
  readonly runner: Runner;
  readonly orders: Pick<Orders, "give">;
  readonly tombstones: Tombstones;
  readonly events: { tell(event: ServiceEvent): void };
  readonly holds: (generation: number) => boolean;
  /** Called when the broker has taken back what it had given to this generation. */
  readonly takenBack: (generation: number) => void;
  /** Undefined means that nothing is traced. */
  readonly tracing?: RunTracing | undefined;
}

/**
 * The manager's orders to runs. Guarantees: each is answered by that run's end, by RunHeld, or at once if there is no such run; stops of
 * observers are remembered. A crash forgets the order; the manager sends it again until it is answered.
 */
export class RunOrders {
  readonly #parts: RunOrdersParts;

  constructor(parts: RunOrdersParts) {
    this.#parts = parts;
  }

  /** Also remembers stops of observers that run here: their message may come again if the lease is lost before the ack. */
  stopObservers({ targets }: StopObservers, order: Delivery): void {
    const { runner, tombstones } = this.#parts;
    for (const { observerId, revision } of targets) {
      tombstones.remember(observerId, revision, performance.now());
      for (const run of runner.runs.ofObserver(observerId)) {
        if (run.start.revision <= revision) this.#stop(run, { kind: "stopped" }, order);
      }
    }
  }

  stopRuns({ targets }: StopRuns, order: Delivery): void {
    const { runner, events } = this.#parts;
    for (const target of targets) {
      const { reason, ...identity } = target;
      const run = runner.runs.find(target.observerId, target.runId);
      if (run === undefined || run.start.messageId !== target.messageId) events.tell(endOfNoRun(identity, reason));
      else if (reason === "superseded") this.#answerSuperseded(run);
      else if (reason === "taken-back") this.#answerTakenBack(run);
      else this.#stop(run, { kind: reason }, order);
    }
  }

  /** A run that is ending answers by its end. A run without a lease has been fenced, and answers in the same way. */
  #answerSuperseded(run: LiveRun): void {
    const { events, holds } = this.#parts;
    const held = holds(run.delivery.generation) ? heldBy(run) : undefined;
    if (held !== undefined) events.tell(held);
  }

  /** The run answers by its end, as all runs of its generation do. One of an earlier generation has been fenced already. */
  #answerTakenBack(run: LiveRun): void {
    run.announced = true;
    this.#parts.takenBack(run.delivery.generation);
  }

  restartRuns({ targets }: RestartRuns, order: Delivery): void {
    const { runner, holds } = this.#parts;
    for (const { observerId, runId } of targets) {
      const run = runner.runs.find(observerId, runId);
      if (run !== undefined && holds(run.delivery.generation)) this.#stop(run, { kind: "restarted" }, order);
    }
  }

  /**
   * A run that has begun reports that again. One that waits for a slot reports that again if the admission is the same. One that is ending
   * answers by its end.
   */
  admit({ targets }: Admit, order: Delivery): void {
    const { runner, events, holds } = this.#parts;
    for (const { fencingToken, spec, checkpoint, ...identity } of targets) {
      const run = this.#runOf(identity);
      if (run === undefined || !holds(run.delivery.generation)) continue;
      if (run.state.phase === "running") events.tell(startedAgain(run));
      else {
        this.#parts.tracing?.ordered(run, order);
        if (admit(run, { fencingToken, ownTokens: 0, checkpoint }, spec)) runner.admitted(run);
        else runner.admittedAgain(run);
      }
    }
  }

  tellCheckpoints({ targets }: TellCheckpoints): void {
    for (const identity of targets) {
      const run = this.#runOf(identity);
      if (run !== undefined) this.#parts.runner.tellCheckpoint(run);
    }
  }

  updateRuns({ targets }: UpdateRuns, order: Delivery): void {
    const { runner, holds, tracing } = this.#parts;
    for (const { spec, ...identity } of targets) {
      const run = this.#runOf(identity);
      if (run === undefined || !holds(run.delivery.generation)) continue;
      tracing?.ordered(run, order);
      runner.update(run, spec);
    }
  }

  shed({ targets }: ShedRuns, order: Delivery): void {
    const { holds, orders, tracing } = this.#parts;
    const given: LiveRun[] = [];
    for (const identity of targets) {
      const run = this.#runOf(identity);
      if (run !== undefined && holds(run.delivery.generation) && !isEnding(run)) given.push(run);
    }
    for (const run of given) tracing?.ordered(run, order);
    if (given.length > 0) orders.give(given);
  }

  /**
   * The run that an order is about. Undefined if it is gone: then it is reported, as far as is known here, to have lost its
   * message.
   */
  #runOf({ observerId, runId, messageId, revision }: RunIdentity): LiveRun | undefined {
    const { runner, events } = this.#parts;
    const run = runner.runs.find(observerId, runId);
    if (run?.start.messageId === messageId) return run;
    events.tell(released({ observerId, runId, messageId, revision }));
    return undefined;
  }

  #stop(run: LiveRun, cause: StopCause, order: Delivery): void {
    this.#parts.tracing?.ordered(run, order);
    this.#parts.runner.stop(run, cause);
  }
}

/** Whether it has failed for good, or has been told to end: then nobody need step aside for it. */
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

/** The answer for a run that is not here: its message is not here either. */
const endOfNoRun = (identity: RunIdentity, reason: RunStopReason): RunStopped | RunReleased =>
  reason === "taken-back" ? released(identity) : { kind: "RunStopped", ...identity, at: Date.now(), reason };
