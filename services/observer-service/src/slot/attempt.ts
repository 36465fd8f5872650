import type { RunId } from "@unacked/contracts";
import {
  createRunContext,
  type LogFields,
  type LogLevel,
  type ObserverDefinition,
  type ObserverIdentity,
  ObserverStopped,
  type RunContext,
  type RunContextParts,
  type RunOutcome,
  settleRun,
} from "@unacked/sdk";
import type { TraceIds } from "@unacked/tracing";
import { errorText, stackOf, thrownText } from "../error-text.ts";
import { type Owner, runAs } from "../isolation.ts";
import { type Attempt, type AttemptedRun, type AttemptHost, traceIdsOf } from "../wire/attempt.ts";
import { type StopCause, stopCodeOf } from "../wire/stop-cause.ts";

/** @param params parsed */
export function startAttempt<Run extends AttemptedRun>(
  host: AttemptHost<Run>,
  run: Run,
  definition: ObserverDefinition,
  params: unknown,
): Attempt {
  const attempt = new RunningAttempt(host, run, params);
  attempt.begin(definition);
  return attempt;
}

const LONGEST_COMPLAINT_PAUSE_MS = 600_000;

class RunningAttempt<Run extends AttemptedRun> implements Attempt, Owner, RunContextParts<unknown> {
  readonly params: unknown;
  readonly observer: ObserverIdentity;
  readonly #host: AttemptHost<Run>;
  readonly #run: Run;
  readonly #running: RunContext<unknown>;
  #settled = false;
  #complaint: NodeJS.Timeout | undefined;
  /** Told when it came; the handler then fails of it once more. */
  #uncaught: unknown;

  constructor(host: AttemptHost<Run>, run: Run, params: unknown) {
    this.#host = host;
    this.#run = run;
    this.params = params;
    this.observer = identityOf(run.start);
    this.#running = createRunContext(this);
  }

  get stopTimeoutMs(): number {
    return this.#host.stopTimeoutMs;
  }

  get runId(): RunId {
    return this.#run.runId;
  }

  /** Not awaited: a run lives as long as it likes. */
  begin(definition: ObserverDefinition): void {
    const { context } = this.#running;
    const settle = (outcome: RunOutcome): void => {
      this.#running.end();
      this.#settle(outcome);
    };
    // settleRun turns every end into data; the second handler is for a thrown value that cannot even be looked at.
    void this.#enter(() => settleRun(definition, context)).then(settle, (thrown: unknown) =>
      settle({ outcome: "failed", error: new Error(errorText(thrown).message) }),
    );
  }

  abort(cause: StopCause, error?: unknown): void {
    if (this.#settled) return;
    const { stopTimeoutMs } = this.#host;
    if (!this.#running.context.signal.aborted) this.#complain(stopTimeoutMs, stopTimeoutMs);
    const reason = stopReason(cause, error);
    // Abort listeners are the observer's code: what they throw is the observer's too.
    this.#enter(() => this.#running.stop(reason));
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
    this.#tellTrouble(error, what);
    this.#uncaught = error;
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
    return this.#host.publish(this.#run, eventJson);
  }

  #settle(outcome: RunOutcome): void {
    this.#settled = true;
    clearTimeout(this.#complaint);
    if (outcome.outcome !== "completed" && outcome.error && outcome.error !== this.#uncaught) {
      const how = outcome.outcome === "failed" ? "failed" : "threw while stopping";
      this.#tellTrouble(outcome.error, `the handler ${how}`);
    }
    this.#host.onSettled(this.#run, outcome);
  }

  /** In the service's log, and among what the run itself has said. */
  #tellTrouble(thrown: unknown, what: string): void {
    logTrouble(this.#run, thrown, what);
    this.#host.tailOf(this.#run).thrown(what, thrownText(thrown));
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

function identityOf({ observerId: id, name, type, labels }: AttemptedRun["start"]): ObserverIdentity {
  const isEmpty = Object.keys(labels).length === 0;
  return Object.freeze({ id, name, type, labels: isEmpty ? NO_LABELS : Object.freeze({ ...labels }) });
}

/** Without a stack: it would show the inside of this service, and takes longer than all else when thousands are stopped. */
export function stopReason(cause: StopCause, error: unknown): ObserverStopped {
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

function writeLine(
  log: AttemptedRun["log"],
  level: LogLevel,
  message: string,
  fields: LogFields = {},
  ids?: TraceIds,
): void {
  try {
    log[level](ids === undefined ? { fields } : { ...ids, fields }, String(message));
  } catch (error) {
    log.warn(
      { event: "log-fields-unwritable", error: errorText(error).message },
      "a line of the observer's log could not be written",
    );
  }
}
