import { MAX_INTERRUPTION, type ObserverId, type RunId, type UpdateRuns } from "@unacked/contracts";
import type { RunOutcome } from "@unacked/sdk";
import { sendableText, thrownText } from "../../error-text.ts";
import type { Late } from "../../wire/late.ts";
import { endsForGood, type StopCause } from "../../wire/stop-cause.ts";
import type { Output } from "../outbox/output.ts";
import { Checkpoints } from "./checkpoints.ts";
import { logGoneWithSlot } from "./gone-with-slot.ts";
import type { HandlerHost, Handlers } from "./handlers.ts";
import { HeldRuns } from "./held-runs.ts";
import { type AcceptedStart, attemptOf, type LiveRun, newLiveRun } from "./live-run.ts";
import { Renewal } from "./renewal.ts";
import { type RunEffect, type RunFact, type RunInput, type Settled, type Settlement, stepRun } from "./run-machine.ts";
import { RunTails } from "./run-tails.ts";
import { RunTeller, type RunTellerParts } from "./run-teller.ts";
import type { RunTracing } from "./run-tracing.ts";
import { RunTurns } from "./run-turns.ts";
import { Silences } from "./silences.ts";
import { type RunTraits, successorOf } from "./successor.ts";
import { Updates } from "./updates.ts";

export interface RunnerParts extends RunTellerParts {
  readonly handlers: Handlers;
  readonly output: Output;
  readonly stopTimeoutMs: number;
  /** How often a run may save, and how much all of them together. Default: no bound. */
  readonly saving?: { readonly everyMs: number; readonly bytesPerS: number };
  /** Called when a handler is started, with the number of the attempt. */
  readonly onStart?: (attempt: number) => void;
  /** How long a handler may take to decide about an update. */
  readonly updateTimeoutMs?: number;
  /** The current traits of a run's type. Undefined means those with which it was accepted. */
  readonly traitsOf?: (type: string) => RunTraits;
  /** How much memory the tail of one run may take. */
  readonly tailBytes: number;
  /** Undefined means that nothing is traced. */
  readonly tracing?: RunTracing | undefined;
}

const DEFAULT_UPDATE_TIMEOUT_MS = 10_000;

/**
 * Receives accepted starts, orders to stop, settled handlers, timers. Guarantees: one observer never runs twice here;
 * whatever ends a run, `#end` alone decides event and message, and the message is acked only after the event is confirmed
 * and under a held lease. A crash in the middle leaves the message unacked, so that it runs again somewhere.
 */
export class Runner {
  readonly runs = new HeldRuns();
  readonly tails: RunTails;
  readonly #parts: RunnerParts;
  readonly #turns: RunTurns;
  readonly #teller: RunTeller;
  readonly #checkpoints: Checkpoints;
  readonly #host: HandlerHost<LiveRun>;
  readonly #updates: Updates;
  readonly #renewal: Renewal;
  readonly #silences = new Silences((run) => this.#teller.tellSilence(run));

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.tails = new RunTails(parts.tailBytes);
    this.#turns = new RunTurns({ ...parts, tails: this.tails, apply: (run, input) => this.#apply(run, input) });
    this.#teller = new RunTeller(parts);
    this.#checkpoints = new Checkpoints({ ...parts, bytesPerS: parts.saving?.bytesPerS ?? Number.MAX_SAFE_INTEGER });
    this.#host = this.#hostOfAttempts(parts);
    parts.handlers.onLate = (late) => this.#noteLate(late);
    this.#renewal = new Renewal({
      outdated: (isPatient) => parts.handlers.outdated(isPatient),
      onDone: (count) => parts.log.info({ event: "types-renewed", observers: count }, "all runs by the newest code"),
    });
    this.#updates = new Updates({
      events: parts.events,
      limitMs: parts.updateTimeoutMs ?? DEFAULT_UPDATE_TIMEOUT_MS,
      restart: (run) => this.stop(run, { kind: "restarted" }),
      retryNow: (run) => {
        clearTimeout(run.timer);
        this.#turns.retry(run);
      },
    });
  }

  /** Runs it when its turn comes: starts are paced, and come after every other run of the same observer has settled. */
  accept(accepted: AcceptedStart): void {
    const run = newLiveRun(accepted, this.#parts.log);
    this.#parts.tracing?.accepted(run, accepted.traceContext);
    if (this.runs.put(run)) this.#turns.give(run);
  }

  /** Ends a run. The cause decides how it ends, and what becomes of its message. */
  stop(run: LiveRun, cause: StopCause): void {
    this.#apply(run, { kind: "stop", cause });
  }

  /** Takes a new spec for the run. */
  update(run: LiveRun, spec: UpdateRuns["targets"][number]["spec"]): void {
    this.#updates.take(run, spec);
  }

  /** Sends again what it has saved last, or was given. */
  tellCheckpoint(run: LiveRun): void {
    this.#checkpoints.tellAgain(run);
  }

  /**
   * The folder was loaded again. Runs of older code begin again, a few at a time; those that wait for their next attempt do at once;
   * those of a removed type give their messages back, unless they have failed for good.
   */
  renew({ changed = [], gone = [] }: { changed?: readonly string[]; gone?: readonly string[] }): void {
    for (const run of this.runs.all()) {
      if (gone.includes(run.start.type)) this.stop(run, { kind: "type-gone" });
      else if (run.state.phase === "backing-off" && changed.includes(run.start.type)) this.stop(run, NEWER_CODE);
    }
    this.#renewal.begin();
  }

  stopAll(cause: StopCause): void {
    for (const run of this.runs.all()) this.stop(run, cause);
  }

  /** Every run loses its lease: none may go on, and none of their messages is ours any more. */
  fence(): void {
    this.stopAll({ kind: "lease-lost" });
  }

  /**
   * Surely ends the handlers of this or an earlier generation that still run. False means that only the end of the process
   * does.
   */
  endForCertain(generation: number): boolean {
    return this.#parts.handlers.endForCertain(this.runs.unsettled(generation));
  }

  /** The names of observers of this or an earlier generation whose handler still runs. */
  unsettled(generation?: number): string[] {
    return this.runs.unsettled(generation).map((run) => run.start.name);
  }

  /** Resolves when `unsettled(generation)` is empty. */
  settled(generation: number): Promise<void> {
    return this.runs.until(() => this.runs.unsettled(generation).length === 0);
  }

  /** Resolves when there is no run at all. */
  idle(): Promise<void> {
    return this.runs.until(() => this.runs.size === 0);
  }

  heldUntil(deadlineMs: number | undefined, graceMs: number): void {
    this.#parts.handlers.leaseHeldUntil(deadlineMs, graceMs);
  }

  /** The manager lets the run start. */
  admitted(run: LiveRun): void {
    this.#turns.admitted(run);
  }

  /** It has let it start before. */
  admittedAgain(run: LiveRun): void {
    this.#turns.admittedAgain(run);
  }

  #apply(run: LiveRun, input: RunInput): void {
    const { state, effects } = stepRun(run.state, input, run.start.retry);
    if (run.state.phase === "running" && state.phase !== "running")
      this.#updates.left(run, followsOn(state) || effects.some(({ kind }) => kind === "restart"));
    if (state !== run.state) {
      run.state = state;
      if (state.phase !== "running") run.silence = undefined;
      clearTimeout(run.timer);
    }
    const { tracing } = this.#parts;
    if (tracing !== undefined && effects.some(({ kind }) => kind === "start-handler")) tracing.starting(run);
    for (const effect of effects) this.#perform(run, effect);
    if (input.kind === "settled" || state.phase === "over") this.runs.lookSoon();
  }

  #perform(run: LiveRun, effect: RunEffect): void {
    switch (effect.kind) {
      case "start-handler":
        return this.#startHandler(run);
      case "abort-handler":
        return run.attempt?.abort(effect.cause);
      case "wait-to-retry":
        run.timer = setTimeout(() => this.#turns.retry(run), effect.delayMs);
        return;
      case "watch-health":
        run.timer = setTimeout(() => this.#apply(run, { kind: "well" }), effect.afterMs);
        return;
      case "tell":
        run.announced = true;
        return this.#teller.tell(run, effect.fact);
      case "report":
        this.#checkpoints.flush(run);
        return this.#teller.report(run, effect, () => this.#apply(run, { kind: "reported" }));
      case "limit-report":
        run.timer = setTimeout(() => this.#apply(run, { kind: "not-reported" }), effect.limitMs);
        return;
      case "end":
        return this.#end(run, effect.fact, effect.settlement);
      case "restart":
        return this.#restart(run, effect);
      default:
        return effect satisfies never;
    }
  }

  #startHandler(run: LiveRun): void {
    this.#parts.onStart?.(attemptOf(run));
    run.waitsForRoom = false;
    run.hasBegun = true;
    run.attempt = this.#parts.handlers.start(this.#host, run);
    this.#parts.tracing?.started(run);
  }

  #hostOfAttempts({ output, stopTimeoutMs, tracing, saving }: RunnerParts): HandlerHost<LiveRun> {
    return {
      saving: { save: (run, json) => this.#checkpoints.save(run, json), everyMs: saving?.everyMs ?? 0 },
      publish: (run, eventJson, wanted) => output(run.start, run, eventJson, wanted),
      stopTimeoutMs,
      tracing,
      tailOf: (run) => this.tails.of(run),
      onSettled: (run, outcome) => this.#apply(run, { kind: "settled", how: settledBy(outcome), random: Math.random() }),
      onUncaught: (run, error) => this.stop(run, { kind: "uncaught", error: thrownText(error) }),
      onSilence: (run, quietForMs) => this.#silences.note(run, quietForMs),
      onUpdated: (run, word) => this.#updates.answered(run, word),
      onStuck: (run) => this.#apply(run, { kind: "stuck" }),
      onBadParams: (run, error) => this.#turns.badParams(run, error),
      onInterrupted: (run, why) => {
        logGoneWithSlot(run.log, "run", run.state.phase === "stopping" ? run.state.cause : undefined, why.detail);
        this.#apply(run, { kind: "interrupted", why: why.detail });
      },
      onMoved: (run, { detail: why }) => this.stop(run, { kind: "moved", why }),
      onRenewed: (run) => this.stop(run, NEWER_CODE),
    };
  }

  /** Added to the run's own lines: the run may be over, or try again. */
  #noteLate(late: Late): void {
    const { observer, runId } = late;
    if (observer !== undefined) this.tails.late(this.runs.find(observer.id as ObserverId, runId as RunId), late);
  }

  #end(run: LiveRun, fact: RunFact, settlement: Settlement): void {
    this.#checkpoints.flush(run);
    this.#teller.end(run, fact, settlement);
    this.tails.ended(run);
    const next = this.runs.remove(run);
    // Not while another run of it is here, which may be the one that has to be alone.
    if (this.runs.ofObserver(run.start.observerId).length === 0) this.#parts.handlers.forget(run);
    if (next !== undefined) this.#turns.give(next);
  }

  /** Same message, a new run. The old handler has settled, or never began. */
  #restart(run: LiveRun, { failures, interruption }: RunEffect & { kind: "restart" }): void {
    this.#checkpoints.flush(run);
    const why = interruption === undefined ? {} : { interruption: sendableText(interruption, MAX_INTERRUPTION) };
    this.#teller.tell(run, { kind: "RunStopped", reason: "restarted", ...why });
    this.tails.ended(run);
    const { traitsOf, log } = this.#parts;
    const successor = successorOf(run, failures, traitsOf?.(run.start.type), log);
    this.#parts.tracing?.succeeded(run, successor);
    if (this.runs.replace(run, successor)) this.#turns.take(successor);
  }
}

const NEWER_CODE: StopCause = { kind: "restarted", why: "its code was loaded again" };

/** Whether another handler follows, in the same run or the next. */
const followsOn = (state: LiveRun["state"]): boolean =>
  state.phase === "backing-off" || (state.phase === "stopping" && !endsForGood(state.cause));

const settledBy = (outcome: RunOutcome): Settled =>
  outcome.outcome === "failed" ? { kind: "failed", error: thrownText(outcome.error) } : { kind: outcome.outcome };
