import type { RunId, StartObserver } from "@unacked/contracts";
import {
  createRunContext,
  type LogFields,
  type LogLevel,
  type ObserverDefinition,
  type ObserverIdentity,
  ObserverStopped,
  type RunContextParts,
  type RunOutcome,
  settleRun,
} from "@unacked/sdk";
import type { TraceIds } from "@unacked/tracing";
import { errorText, stackOf } from "./error-text.ts";
import { type Owner, runAs } from "./isolation.ts";
import type { Log } from "./log.ts";
import type { Output } from "./output.ts";
import type { RunTail } from "./run-tail.ts";
import { type RunTrace, traceIdsOf } from "./run-trace.ts";
import { type StopCause, stopCodeOf } from "./stop-cause.ts";

/** The run that an attempt is one of. */
export interface AttemptedRun {
  readonly start: StartObserver;
  readonly runId: RunId;
  readonly definition: ObserverDefinition;
  /** Carries the observer and the run already. */
  readonly log: Log;
  readonly trace?: RunTrace;
}

/** How a handler is part of its run's trace. */
export interface AttemptTracing<Run> {
  within<Result>(run: Run, act: () => Result): Result;
  /** For a line that the handler writes. */
  idsInside(run: Run): TraceIds | undefined;
}

/** What all attempts of a service share: there are many thousands of them, and each asks here. */
export interface AttemptHost<Run extends AttemptedRun> {
  readonly output: Output;
  readonly stopTimeoutMs: number;
  /** Undefined: nothing is traced. */
  readonly tracing: AttemptTracing<Run> | undefined;
  /** Keeps what the handler says; asked for when it says something. */
  tailOf(run: Run): RunTail;
  /** The handler is over; called exactly once. */
  onSettled(run: Run, outcome: RunOutcome): void;
  /** An error that nobody caught came out of the running handler. */
  onUncaught(run: Run, error: unknown): void;
  /** It was told to end `stopTimeoutMs` ago and has not settled. */
  onStuck(run: Run): void;
}

/** One start of a handler. The handler's own code is only ever entered through here. */
export interface Attempt {
  /** Only the first call counts. `error` becomes the cause of the signal's reason. */
  abort(cause: StopCause, error?: unknown): void;
}

/** @param params parsed */
export function startAttempt<Run extends AttemptedRun>(host: AttemptHost<Run>, run: Run, params: unknown): Attempt {
  const attempt = new RunningAttempt(host, run, params);
  attempt.begin();
  return attempt;
}

const LONGEST_COMPLAINT_PAUSE_MS = 600_000;

class RunningAttempt<Run extends AttemptedRun> implements Attempt, Owner, RunContextParts<unknown> {
  readonly params: unknown;
  readonly observer: ObserverIdentity;
  readonly #host: AttemptHost<Run>;
  readonly #run: Run;
  readonly #controller = new AbortController();
  #settled = false;
  #complaint: NodeJS.Timeout | undefined;

  constructor(host: AttemptHost<Run>, run: Run, params: unknown) {
    this.#host = host;
    this.#run = run;
    this.params = params;
    this.observer = identityOf(run.start);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get runId(): RunId {
    return this.#run.runId;
  }

  /** Not awaited: a run lives as long as it likes. */
  begin(): void {
    const running = createRunContext(this);
    const settle = (outcome: RunOutcome): void => {
      running.end();
      this.#settle(outcome);
    };
    // settleRun turns every end into data; the second handler is for a thrown value that cannot even be looked at.
    void this.#enter(() => settleRun(this.#run.definition, running.context)).then(settle, (thrown: unknown) =>
      settle({ outcome: "failed", error: new Error(errorText(thrown).message) }),
    );
  }

  abort(cause: StopCause, error?: unknown): void {
    if (this.signal.aborted || this.#settled) return;
    const { stopTimeoutMs } = this.#host;
    this.#complain(stopTimeoutMs, stopTimeoutMs);
    const reason = stopReason(cause, error);
    // Abort listeners are the observer's code: what they throw is the observer's too.
    this.#enter(() => this.#controller.abort(reason));
  }

  /** The observer's own code runs as this attempt and, where runs are traced, below the start of it. */
  #enter<Result>(act: () => Result): Result {
    const { tracing } = this.#host;
    return runAs(this, tracing === undefined ? act : () => tracing.within(this.#run, act));
  }

  uncaught(error: unknown): void {
    const isOver = this.#settled;
    const what = isOver
      ? "a run that had ended threw; nothing depends on it"
      : "an error that nobody caught fails this attempt";
    logTrouble(this.#run, error, what);
    if (!isOver) this.#host.onUncaught(this.#run, error);
  }

  writeLog(level: LogLevel, message: string, fields?: LogFields): void {
    const { log } = this.#run;
    writeLine(log, level, message, fields, this.#host.tracing?.idsInside(this.#run));
    // No more than the log itself has.
    if (log.isLevelEnabled(level)) this.#host.tailOf(this.#run).line(level, String(message), fields);
  }

  publish(eventJson: string): Promise<void> {
    this.#host.tailOf(this.#run).value(eventJson);
    return this.#host.output(this.#run.start, this.runId, eventJson);
  }

  #settle(outcome: RunOutcome): void {
    this.#settled = true;
    clearTimeout(this.#complaint);
    if (outcome.outcome !== "completed" && outcome.error) {
      const how = outcome.outcome === "failed" ? "failed" : "threw while stopping";
      logTrouble(this.#run, outcome.error, `the handler ${how}`);
    }
    this.#host.onSettled(this.#run, outcome);
  }

  #complain(afterMs: number, totalMs: number): void {
    this.#complaint = setTimeout(() => {
      this.#run.log.error(
        { event: "handler-does-not-stop", forMs: totalMs, ...traceIdsOf(this.#run) },
        "the handler ignores its abort; it keeps its worker until it settles",
      );
      if (totalMs === afterMs) this.#host.onStuck(this.#run);
      const nextMs = Math.min(totalMs, LONGEST_COMPLAINT_PAUSE_MS);
      this.#complain(nextMs, totalMs + nextMs);
    }, afterMs).unref();
  }
}

const NO_LABELS = Object.freeze({});

function identityOf({ observerId: id, name, type, labels }: StartObserver): ObserverIdentity {
  const isEmpty = Object.keys(labels).length === 0;
  return Object.freeze({ id, name, type, labels: isEmpty ? NO_LABELS : Object.freeze({ ...labels }) });
}

/** Without a stack: it would show the inside of this service, and takes longer than all else when thousands are stopped. */
function stopReason(cause: StopCause, error: unknown): ObserverStopped {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return new ObserverStopped(stopCodeOf(cause), undefined, error === undefined ? undefined : { cause: error });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function logTrouble(run: AttemptedRun, thrown: unknown, message: string): void {
  const { log } = run;
  log.warn({ event: "observer-error", error: errorText(thrown), stack: stackOf(thrown), ...traceIdsOf(run) }, message);
}

function writeLine(log: Log, level: LogLevel, message: string, fields: LogFields = {}, ids?: TraceIds): void {
  try {
    log[level](ids === undefined ? { fields } : { ...ids, fields }, String(message));
  } catch (error) {
    log.warn(
      { event: "log-fields-unwritable", error: errorText(error).message },
      "a line of the observer's log could not be written",
    );
  }
}
