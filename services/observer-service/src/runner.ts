import type { RunEndEvent, RunRetrying, RunStarted, ServiceEvent } from "@unacked/contracts";
import { paramsIssuesText, parseParams, type RunOutcome } from "@unacked/sdk";
import { type AttemptHost, startAttempt } from "./attempt.ts";
import { EndedTails } from "./ended-tails.ts";
import type { ErrorReporter } from "./error-reporter.ts";
import { errorText, sendableText } from "./error-text.ts";
import { type AcceptedStart, attemptOf, hasHandler, type LiveRun, newLiveRun } from "./live-run.ts";
import type { Log } from "./log.ts";
import type { Output } from "./output.ts";
import { Pacer } from "./pacer.ts";
import { type RunEffect, type RunFact, type RunInput, type Settled, type Settlement, stepRun } from "./run.ts";
import { RunLog } from "./run-log.ts";
import { RunSlots } from "./run-slots.ts";
import { RunTail } from "./run-tail.ts";
import { traceIdsOf } from "./run-trace.ts";
import type { RunTracing } from "./run-tracing.ts";
import type { StopCause } from "./stop-cause.ts";

export interface RunnerParts {
  readonly events: { tell(event: ServiceEvent, onConfirmed?: () => void): void };
  readonly errors: Pick<ErrorReporter, "report">;
  readonly output: Output;
  /** The lease of that generation is held; asking fences first if its deadline has passed. */
  readonly holds: (generation: number) => boolean;
  readonly log: Log;
  readonly stopTimeoutMs: number;
  /** A handler is started, for the attempt of this number. */
  readonly onStart?: (attempt: number) => void;
  /** What the tail of one run may take. */
  readonly tailBytes: number;
  /** Undefined: nothing is traced. */
  readonly tracing?: RunTracing | undefined;
}

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
  readonly #runLog: RunLog;
  readonly #host: AttemptHost<LiveRun>;
  readonly #watchers = new Set<() => void>();
  #lookIsDue = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#runLog = new RunLog(parts.log);
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

  /** The names of observers of this or an earlier generation whose handler still runs. */
  unsettled(generation = Number.POSITIVE_INFINITY): string[] {
    const still = this.slots.all().filter((run) => hasHandler(run) && run.delivery.generation <= generation);
    return still.map((run) => run.start.name);
  }

  /** Resolves when `unsettled(generation)` is empty. */
  settled(generation: number): Promise<void> {
    return this.#until(() => this.unsettled(generation).length === 0);
  }

  /** Resolves when there is no run at all. */
  idle(): Promise<void> {
    return this.#until(() => this.slots.size === 0);
  }

  #until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      const look = () => {
        if (!holds()) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
    });
  }

  /** Once for all that settle in this turn of the event loop: each look goes through every run. */
  #lookSoon(): void {
    if (this.#lookIsDue || this.#watchers.size === 0) return;
    this.#lookIsDue = true;
    setImmediate(() => {
      this.#lookIsDue = false;
      for (const look of [...this.#watchers]) look();
    });
  }

  #giveTurn(run: LiveRun): void {
    this.#pacer.add(run);
  }

  #takeTurn(run: LiveRun): void {
    const { generation } = run.delivery;
    // A lost lease has ended it already, or ends it now.
    if (!this.#parts.holds(generation) && run.state.phase === "waiting") return this.stop(run, { kind: "lease-lost" });
    if (run.state.phase !== "waiting") return this.#apply(run, { kind: "turn" });
    const parsed = parseParams(run.definition, run.start.params);
    run.checkedParams = parsed;
    if (parsed.ok) return this.#apply(run, { kind: "turn" });
    const error = { name: "InvalidParams", message: sendableText(paramsIssuesText(parsed.issues), 16_384) };
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
    if (input.kind === "settled" || state.phase === "over") this.#lookSoon();
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
        return this.#tell(run, effect.fact);
      case "report":
        return this.#report(run, effect);
      case "end":
        return this.#end(run, effect.fact, effect.settlement);
      case "restart":
        return this.#restart(run);
      default:
        return effect satisfies never;
    }
  }

  #retry(run: LiveRun): void {
    if (this.#parts.holds(run.delivery.generation)) this.#apply(run, { kind: "retry-due" });
  }

  #startHandler(run: LiveRun): void {
    this.#parts.onStart?.(attemptOf(run));
    // Parsed anew for each later attempt: a handler may have changed what it was given.
    const parsed = run.checkedParams ?? parseParams(run.definition, run.start.params);
    run.checkedParams = undefined;
    run.uncaught = undefined;
    run.attempt = startAttempt(this.#host, run, parsed.ok ? parsed.params : undefined);
    this.#parts.tracing?.started(run);
  }

  #hostOfAttempts({ output, stopTimeoutMs, tailBytes, tracing }: RunnerParts): AttemptHost<LiveRun> {
    return {
      output,
      stopTimeoutMs,
      tracing,
      tailOf: (run) => (run.tail ??= new RunTail(tailBytes)),
      onSettled: (run, outcome) => this.#apply(run, { kind: "settled", how: settledBy(outcome), random: Math.random() }),
      onUncaught: (run, error) => {
        run.uncaught ??= error;
        this.stop(run, { kind: "uncaught", error: errorText(error) });
      },
      onStuck: (run) => this.#apply(run, { kind: "stuck" }),
    };
  }

  #report(run: LiveRun, { reason, fact }: RunEffect & { kind: "report" }): void {
    const waiting = new AbortController();
    run.reporting = waiting;
    const { observerId } = run.start;
    const detail =
      fact.kind === "RunFailed" ? `${fact.error.name}: ${fact.error.message}` : "the books do not have this observer";
    const trouble = { reason, detail, observerId, runId: run.runId };
    // Rejects only when a lost lease has ended the run meanwhile.
    this.#parts.errors.report(trouble, messageOf(run), waiting.signal).then(
      () => this.#apply(run, { kind: "reported" }),
      () => undefined,
    );
  }

  /** The one place where a run's end becomes an event and its message is settled. */
  #end(run: LiveRun, fact: RunFact, settlement: Settlement): void {
    run.reporting?.abort();
    const nobodyKnowsIt = fact.kind === "RunReleased" && !run.announced;
    if (nobodyKnowsIt) this.#settle(run, settlement);
    else this.#tell(run, fact, () => this.#settle(run, settlement));
    this.#runLog.ended(run, fact);
    if (run.tail !== undefined) this.endedTails.keep(run.runId, run.tail);
    const next = this.slots.remove(run);
    if (next !== undefined) this.#giveTurn(next);
  }

  #settle(run: LiveRun, settlement: Settlement): void {
    const { delivery } = run;
    if (settlement === "leave" || !this.#parts.holds(delivery.generation)) return;
    if (!delivery.settle(settlement))
      run.log.warn(
        { event: "settled-too-late", settlement, ...traceIdsOf(run) },
        "its message belongs to a session that is gone; the broker gives it to someone again",
      );
  }

  /** Same message, a new run. The old handler has settled. */
  #restart(run: LiveRun): void {
    this.#tell(run, { kind: "RunStopped", reason: "restarted" });
    if (run.tail !== undefined) this.endedTails.keep(run.runId, run.tail);
    const successor = newLiveRun(run, this.#parts.log);
    this.#parts.tracing?.succeeded(run, successor);
    this.slots.replace(run, successor);
    this.#takeTurn(successor);
  }

  #tell(run: LiveRun, fact: RunFact, onConfirmed?: () => void): void {
    const { observerId, messageId, revision } = run.start;
    // What is spread stands last: V8 takes twenty times as long to add to a copy.
    const event: RunStarted | RunRetrying | RunEndEvent = {
      observerId,
      messageId,
      revision,
      runId: run.runId,
      at: Date.now(),
      ...fact,
    };
    const traceContext = run.trace?.telling;
    if (traceContext !== undefined && (event.kind === "RunStarted" || event.kind === "RunStopped"))
      event.traceContext = traceContext;
    if (fact.kind === "RunStarted") this.#runLog.started(run, fact);
    this.#parts.events.tell(event, onConfirmed);
  }
}

/** The message as it came, which was let go of when the run was accepted. */
const messageOf = ({ start, delivery }: LiveRun) => ({ queue: delivery.queue, body: Buffer.from(JSON.stringify(start)) });

const settledBy = (outcome: RunOutcome): Settled =>
  outcome.outcome === "failed" ? { kind: "failed", error: errorText(outcome.error) } : { kind: "completed" };
