import { type RunId, readText } from "@unacked/contracts";
import type {
  LogFields,
  LogLevel,
  ObserverDefinition,
  ObserverIdentity,
  RunOutcome,
  Silence,
  UpdateOutcome,
} from "@unacked/sdk";
import {
  createRunContext,
  errorOf,
  paramsIssuesText,
  parseParams,
  type RunContext,
  type RunContextParts,
  type RunSaves,
  readCheckpoint,
  settleRun,
  settleUpdate,
  silentError,
} from "@unacked/sdk/host";
import { errorText, stackOf, thrownText } from "../error-text.ts";
import { lookAs, type Owner, runAs } from "../isolation.ts";
import { type Attempt, type AttemptedRun, type AttemptHost, type RunUpdate, traceIdsOf } from "../wire/attempt.ts";
import { GOES_ON_AFTER_END, THREW_AFTER_END } from "../wire/late.ts";
import type { SilenceWatch, Watched } from "../wire/silence-watch.ts";
import type { StopCause } from "../wire/stop-cause.ts";
import { writeHandlerLine } from "./handler-line.ts";
import { RepeatedErrors } from "./repeated-errors.ts";
import { StopComplaint } from "./stop-complaint.ts";
import { stopReason } from "./stop-reason.ts";

/** A handler that runs in this process. */
export interface StartedAttempt extends Attempt {
  /** Runs `act` as the handler's code: what that throws, starts, or blocks is its own. */
  enter<Result>(act: () => Result): Result;
}

/** @param params parsed @param watch looks whether it is heard, where that is asked for */
export function startAttempt<Run extends AttemptedRun>(
  host: AttemptHost<Run>,
  run: Run,
  definition: ObserverDefinition,
  params: unknown,
  watch?: SilenceWatch,
): StartedAttempt {
  const attempt = new RunningAttempt(host, run, definition, params);
  attempt.begin();
  if (watch !== undefined) attempt.watchBy(watch, run.start.silence ?? definition.silence);
  return attempt;
}

/**
 * Guarantees: its host is told once that the handler has settled; all code of the author is entered as this attempt, so that what that
 * throws, starts or blocks is known to be its own.
 */
class RunningAttempt<Run extends AttemptedRun> implements StartedAttempt, Owner, RunContextParts<unknown>, Watched {
  readonly params: unknown;
  readonly observer: ObserverIdentity;
  readonly saves: RunSaves | undefined;
  readonly #host: AttemptHost<Run>;
  readonly #run: Run;
  readonly #definition: ObserverDefinition;
  readonly #running: RunContext<unknown>;
  #settled = false;
  #watch: SilenceWatch | undefined;
  #hasBeat = false;
  limits: Silence = NO_LIMITS;
  #complaint: StopComplaint | undefined;
  /**
   * The first uncaught value, as it was thrown. It was reported when it came, and the handler then fails with it as well.
   */
  #uncaught: Error | undefined;
  /** Created for the first error; reports all of them. */
  #repeated: RepeatedErrors | undefined;

  constructor(host: AttemptHost<Run>, run: Run, definition: ObserverDefinition, params: unknown) {
    this.#host = host;
    this.#run = run;
    this.#definition = definition;
    this.params = params;
    const { checkpoint: schema } = definition;
    const { saving } = host;
    this.saves = schema &&
      saving && {
        schema,
        checkpoint: lookAs(run.runId, () => readCheckpoint(schema, run.checkpoint)),
        everyMs: saving.everyMs,
        save: (json) => saving.save(run, json),
      };
    this.observer = identityOf(run.start);
    this.#running = createRunContext(this);
  }

  get stopTimeoutMs(): number {
    return this.#host.stopTimeoutMs;
  }

  get fencingToken(): number | undefined {
    return this.#run.fencingToken;
  }

  get runId(): RunId {
    return this.#run.runId;
  }

  /** Not awaited, as a run lives as long as it likes. */
  begin(): void {
    const definition = this.#definition;
    const { context } = this.#running;
    const settle = async (outcome: RunOutcome): Promise<void> => {
      const flushed = this.#running.end();
      if (flushed !== undefined) await flushed;
      this.#settle(outcome);
    };
    // settleRun turns every end into data; the second handler is for a thrown value that cannot even be looked at.
    void this.enter(() => settleRun(definition, context)).then(settle, (thrown: unknown) =>
      settle({ outcome: "failed", error: new Error(errorText(thrown).message) }),
    );
  }

  /** Watches it by these limits, from its start on or from now on. */
  watchBy(watch: SilenceWatch, { warnAfterMs, restartAfterMs }: Silence = NO_LIMITS): void {
    this.#watch = watch;
    const isWatched = this.limits !== NO_LIMITS;
    const isUnlimited = warnAfterMs === undefined && restartAfterMs === undefined;
    if (this.#settled || (isUnlimited && !isWatched) || this.#running.context.signal.aborted) return;
    this.limits = isUnlimited ? NO_LIMITS : { warnAfterMs, restartAfterMs };
    watch.changed(this);
    if (isUnlimited) watch.remove(this);
  }

  get isUpdatable(): boolean {
    return this.#definition.onUpdate !== undefined;
  }

  update({ specVersion, silence, params }: RunUpdate): void {
    if (this.#settled) return;
    if (this.#watch !== undefined) this.watchBy(this.#watch, silence ?? this.#definition.silence);
    if (params !== undefined) void this.#offer(specVersion, params.value);
  }

  async #offer(specVersion: number, value: unknown): Promise<void> {
    const definition = this.#definition;
    const parsed = lookAs(this.runId, () => parseParams(definition, value));
    const { context } = this.#running;
    const outcome: UpdateOutcome = parsed.ok
      ? await this.enter(() => settleUpdate(definition, parsed.params, context))
      : { outcome: "rejected", reason: `its type does not take the params: ${paramsIssuesText(parsed.issues)}` };
    if (this.#settled) return;
    if (parsed.ok && outcome.outcome === "applied") this.#running.update(parsed.params);
    this.#host.onUpdated?.(this.#run, { specVersion, ...outcome });
  }

  beat(): void {
    this.#hasBeat = true;
  }

  takeBeat(): boolean {
    const had = this.#hasBeat;
    this.#hasBeat = false;
    return had;
  }

  get waits(): boolean {
    return this.#running.waits;
  }

  onQuiet(forMs: number): void {
    this.#host.onSilence?.(this.#run, Math.round(forMs));
  }

  onHeard(): void {
    this.#host.onSilence?.(this.#run, undefined);
  }

  onTooLong(forMs: number): void {
    const error = silentError(forMs);
    this.#tellTrouble(error, "it was silent for as long as it may: this attempt fails");
    this.#failOf(error);
  }

  abort(cause: StopCause): void {
    if (this.#settled) return;
    this.#watch?.remove(this);
    const { stopTimeoutMs } = this.#host;
    if (!this.#running.context.signal.aborted) {
      this.#complaint = new StopComplaint(stopTimeoutMs, (forMs, isFirst) => this.#complain(forMs, isFirst));
    }
    const reason = stopReason(cause, this.#uncaught);
    // Abort listeners are the observer's code, so what they throw is the observer's, too.
    this.enter(() => this.#running.stop(reason));
  }

  /** The observer's own code runs as this attempt and, where runs are traced, below the start of it. */
  enter<Result>(act: () => Result): Result {
    const { tracing } = this.#host;
    return runAs(this, tracing === undefined ? act : () => tracing.within(this.#run, act));
  }

  /** Its handler has settled, and something of it still logs, emits or saves. Where it was told to end, that may be its abort listeners. */
  late(): void {
    if (this.#running.context.signal.aborted) return;
    if (this.#host.onLate !== undefined) return this.#host.onLate(this.#run);
    this.#run.log.warn({ event: "run-goes-on-after-end", ...traceIdsOf(this.#run) }, GOES_ON_AFTER_END);
  }

  uncaught(thrown: unknown): void {
    const error = errorOf(thrown); // in the form that it would have if the handler itself had thrown it
    if (this.#settled && this.#host.onLate !== undefined) return this.#host.onLate(this.#run, { error });
    this.#repeated ??= new RepeatedErrors((last, times) => {
      const what = this.#settled ? THREW_AFTER_END : "an error that nobody caught fails this attempt";
      this.#tellTrouble(last, what, times);
    });
    this.#repeated.note(error);
    this.#failOf(error);
  }

  #failOf(error: Error): void {
    if (this.#uncaught !== undefined) return;
    this.#uncaught = error;
    if (!this.#settled) this.#host.onUncaught(this.#run, error);
  }

  writeLog(level: LogLevel, message: string, fields?: LogFields): void {
    const { log } = this.#run;
    const text = readText(() => String(message)); // a handler in JavaScript may log anything: an object without a prototype has no text
    writeHandlerLine(log, level, text, fields, this.#host.tracing?.idsInside(this.#run));
    // Keeps no more than the log itself does.
    if (log.isLevelEnabled(level)) this.#host.tailOf(this.#run).line(level, text, fields);
  }

  publish(eventJson: string): Promise<void> {
    this.#host.tailOf(this.#run).value(eventJson);
    return this.#host.publish(this.#run, eventJson);
  }

  #settle(told: RunOutcome): void {
    // It may return before its keeper has answered that nobody caught an error of it.
    const hasFailed = told.outcome === "completed" && this.#uncaught !== undefined;
    const outcome: RunOutcome = hasFailed ? { outcome: "failed", error: this.#uncaught as Error } : told;
    this.#settled = true;
    this.#watch?.remove(this);
    this.#complaint?.end();
    if (outcome.outcome !== "completed" && outcome.error && outcome.error !== this.#uncaught) {
      const how = outcome.outcome === "failed" ? "failed" : "threw while stopping";
      this.#tellTrouble(outcome.error, `the handler ${how}`);
    }
    this.#host.onSettled(this.#run, outcome);
  }

  /** Reports it in the service's log, and among the run's own lines. */
  #tellTrouble(thrown: unknown, what: string, times = 1): void {
    // Runs as this attempt: to look at what was thrown may run the author's code (getters), which may not end.
    runAs(this, () => {
      logTrouble(this.#run, thrown, what, times);
      this.#host.tailOf(this.#run).thrown(times === 1 ? what : `${what} (${times} in a second)`, thrownText(thrown));
    });
  }

  #complain(forMs: number, isFirst: boolean): void {
    this.#run.log.error(
      { event: "handler-does-not-stop", forMs, ...traceIdsOf(this.#run) },
      "the handler ignores its abort; it keeps its worker until it settles",
    );
    if (isFirst) this.#host.onStuck(this.#run);
  }
}

const NO_LIMITS: Silence = Object.freeze({});

const NO_LABELS = Object.freeze({});

function identityOf({ observerId: id, name, type, labels }: AttemptedRun["start"]): ObserverIdentity {
  const isEmpty = Object.keys(labels).length === 0;
  return Object.freeze({ id, name, type, labels: isEmpty ? NO_LABELS : Object.freeze({ ...labels }) });
}

function logTrouble(run: AttemptedRun, thrown: unknown, message: string, times: number): void {
  const about = { event: "observer-error", error: errorText(thrown), stack: stackOf(thrown), ...traceIdsOf(run) };
  run.log.warn({ ...about, ...(times > 1 && { times }) }, message);
}
