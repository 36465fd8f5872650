import { type ErrorText, MAX_INTERRUPTION } from "@unacked/contracts";
import type { RunOutcome } from "@unacked/sdk";
import { sendableText, thrownText } from "../../error-text.ts";
import type { StopCause } from "../../wire/stop-cause.ts";
import type { Output } from "../outbox/output.ts";
import { EndedTails } from "./ended-tails.ts";
import type { HandlerHost, Handlers } from "./handlers.ts";
import { type AcceptedStart, attemptOf, type LiveRun, newLiveRun } from "./live-run.ts";
import { Pacer } from "./pacer.ts";
import { type RunEffect, type RunFact, type RunInput, type Settled, type Settlement, stepRun } from "./run-machine.ts";
import { RunSlots } from "./run-slots.ts";
import { RunTail } from "./run-tail.ts";
import { RunTeller, type RunTellerParts } from "./run-teller.ts";
import type { RunTracing } from "./run-tracing.ts";

export interface RunnerParts extends RunTellerParts {
  readonly handlers: Handlers;
  readonly output: Output;
  readonly stopTimeoutMs: number;
  /** A handler is started, for the attempt of this number. */
  readonly onStart?: (attempt: number) => void;
  /** What the tail of one run may take. */
  readonly tailBytes: number;
  /** Undefined: nothing is traced. */
  readonly tracing?: RunTracing | undefined;
}

/** How long a run waits that has to be alone in a slot while there may be no more slots. */
const NO_ROOM_PAUSE_MS = 1_000;

/**
 * Comes in: accepted starts, orders to stop, settled handlers, timers. Guarantees: one observer never runs twice here;
 * whatever ends a run, `#end` alone decides event and message, and the message is acked only after the event is confirmed
 * and under a held lease. A crash in the middle leaves the message unacked, so that it runs again somewhere.
 */
export class Runner {
  readonly slots = new RunSlots();
  readonly endedTails = new EndedTails();
  readonly #parts: RunnerParts;
  readonly #pacer = new Pacer<LiveRun>((run) => this.#takeTurn(run));
  readonly #teller: RunTeller;
  readonly #host: HandlerHost<LiveRun>;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#teller = new RunTeller(parts);
    this.#host = this.#hostOfAttempts(parts);
  }

  /** Runs it as soon as it is its turn: paced, and after whatever still runs of the same observer has settled. */
  accept(accepted: AcceptedStart): void {
    const run = newLiveRun(accepted, this.#parts.log);
    this.#parts.tracing?.accepted(run, accepted.traceContext);
    if (this.slots.put(run)) this.#giveTurn(run);
  }

  /** Ends a run; how it ends, and what becomes of its message, follows from the cause. */
  stop(run: LiveRun, cause: StopCause): void {
    this.#apply(run, { kind: "stop", cause });
  }

  stopAll(cause: StopCause): void {
    for (const run of this.slots.all()) this.stop(run, cause);
  }

  /** Every run loses its lease: none may go on, none of their messages is ours any more. */
  fence(): void {
    this.stopAll({ kind: "lease-lost" });
  }

  /** Ends for certain the handlers that still run of this or an earlier generation. False: only the end of the process does. */
  endForCertain(generation: number): boolean {
    return this.#parts.handlers.endForCertain(this.slots.unsettled(generation));
  }

  /** The names of observers of this or an earlier generation whose handler still runs. */
  unsettled(generation?: number): string[] {
    return this.slots.unsettled(generation).map((run) => run.start.name);
  }

  /** Resolves when `unsettled(generation)` is empty. */
  settled(generation: number): Promise<void> {
    return this.slots.until(() => this.slots.unsettled(generation).length === 0);
  }

  /** Resolves when there is no run at all. */
  idle(): Promise<void> {
    return this.slots.until(() => this.slots.size === 0);
  }

  heldUntil(deadlineMs: number | undefined, graceMs: number): void {
    this.#parts.handlers.leaseHeldUntil(deadlineMs, graceMs);
  }

  #giveTurn(run: LiveRun): void {
    this.#pacer.add(run);
  }

  #takeTurn(run: LiveRun): void {
    const { generation } = run.delivery;
    // A lost lease has ended it already, or ends it now.
    if (!this.#parts.holds(generation) && run.state.phase === "waiting") return this.stop(run, { kind: "lease-lost" });
    if (run.state.phase !== "waiting") return this.#apply(run, { kind: "turn" });
    const noRoom = this.#parts.handlers.noRoomFor(run);
    if (noRoom !== undefined) return this.#waitForRoom(run, noRoom);
    const error = this.#parts.handlers.checkParams(run);
    if (error === undefined) return this.#apply(run, { kind: "turn" });
    this.#badParams(run, error);
  }

  #badParams(run: LiveRun, error: ErrorText): void {
    this.#host.tailOf(run).thrown("it was not started", error);
    this.#apply(run, { kind: "bad-params", error });
  }

  #apply(run: LiveRun, input: RunInput): void {
    const { state, effects } = stepRun(run.state, input, run.start.retry);
    if (state !== run.state) {
      run.state = state;
      clearTimeout(run.timer);
    }
    const { tracing } = this.#parts;
    if (tracing !== undefined && effects.some(({ kind }) => kind === "start-handler")) tracing.starting(run);
    for (const effect of effects) this.#perform(run, effect);
    if (input.kind === "settled" || state.phase === "over") this.slots.lookSoon();
  }

  #perform(run: LiveRun, effect: RunEffect): void {
    switch (effect.kind) {
      case "start-handler":
        return this.#startHandler(run);
      case "abort-handler":
        return run.attempt?.abort(effect.cause, run.uncaught);
      case "wait-to-retry":
        run.timer = setTimeout(() => this.#retry(run), effect.delayMs);
        return;
      case "watch-health":
        run.timer = setTimeout(() => this.#apply(run, { kind: "well" }), effect.afterMs);
        return;
      case "tell":
        run.announced = true;
        return this.#teller.tell(run, effect.fact);
      case "report":
        return this.#teller.report(run, effect, () => this.#apply(run, { kind: "reported" }));
      case "end":
        return this.#end(run, effect.fact, effect.settlement);
      case "restart":
        return this.#restart(run, effect);
      default:
        return effect satisfies never;
    }
  }

  #retry(run: LiveRun): void {
    if (!this.#parts.holds(run.delivery.generation)) return;
    const noRoom = this.#parts.handlers.noRoomFor(run);
    if (noRoom === undefined) return this.#apply(run, { kind: "retry-due" });
    if (!run.waitsForRoom) this.#apply(run, { kind: "no-room", why: noRoom });
    run.waitsForRoom = true;
    run.timer = setTimeout(() => this.#retry(run), NO_ROOM_PAUSE_MS);
  }

  /** It has not begun: it asks again for its turn, in which it may also be told to end. */
  #waitForRoom(run: LiveRun, why: string): void {
    if (!run.waitsForRoom) {
      run.log.warn({ event: "no-slot", why }, "the observer waits for a slot");
      this.#apply(run, { kind: "no-room", why });
    }
    run.waitsForRoom = true;
    setTimeout(() => this.#giveTurn(run), NO_ROOM_PAUSE_MS);
  }

  #startHandler(run: LiveRun): void {
    this.#parts.onStart?.(attemptOf(run));
    run.uncaught = undefined;
    run.waitsForRoom = false;
    run.attempt = this.#parts.handlers.start(this.#host, run);
    this.#parts.tracing?.started(run);
  }

  #hostOfAttempts({ output, stopTimeoutMs, tailBytes, tracing }: RunnerParts): HandlerHost<LiveRun> {
    return {
      publish: (run, eventJson, wanted) => output(run.start, run.runId, eventJson, wanted),
      stopTimeoutMs,
      tracing,
      tailOf: (run) => (run.tail ??= new RunTail(tailBytes)),
      onSettled: (run, outcome) => this.#apply(run, { kind: "settled", how: settledBy(outcome), random: Math.random() }),
      onUncaught: (run, error) => {
        run.uncaught ??= error;
        this.stop(run, { kind: "uncaught", error: thrownText(error) });
      },
      onStuck: (run) => this.#apply(run, { kind: "stuck" }),
      onBadParams: (run, error) => this.#badParams(run, error),
      onInterrupted: (run, why) => {
        run.log.warn({ event: "run-interrupted", why: why.detail }, "the run begins again, through no fault of its own");
        this.#apply(run, { kind: "interrupted", why: why.detail });
      },
      onMoved: (run, { detail: why }) => this.stop(run, { kind: "moved", why }),
    };
  }

  #end(run: LiveRun, fact: RunFact, settlement: Settlement): void {
    this.#teller.end(run, fact, settlement);
    if (run.tail !== undefined) this.endedTails.keep(run.runId, run.tail);
    const next = this.slots.remove(run);
    if (next !== undefined) this.#giveTurn(next);
  }

  /** Same message, a new run. The old handler has settled. */
  #restart(run: LiveRun, { failures, interruption }: RunEffect & { kind: "restart" }): void {
    const why = interruption === undefined ? {} : { interruption: sendableText(interruption, MAX_INTERRUPTION) };
    this.#teller.tell(run, { kind: "RunStopped", reason: "restarted", ...why });
    if (run.tail !== undefined) this.endedTails.keep(run.runId, run.tail);
    const successor = newLiveRun(run, this.#parts.log);
    successor.state = { phase: "waiting", failures };
    this.#parts.tracing?.succeeded(run, successor);
    this.slots.replace(run, successor);
    this.#takeTurn(successor);
  }
}

const settledBy = (outcome: RunOutcome): Settled =>
  outcome.outcome === "failed" ? { kind: "failed", error: thrownText(outcome.error) } : { kind: "completed" };
