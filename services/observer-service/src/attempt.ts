import type { RunId, StartObserver } from "@unacked/contracts";
import {
  createRunContext,
  type LogFields,
  type LogLevel,
  type ObserverDefinition,
  ObserverStopped,
  type RunOutcome,
  settleRun,
} from "@unacked/sdk";
import { errorText, stackOf } from "./error-text.ts";
import { type Owner, runAs } from "./isolation.ts";
import type { Log } from "./log.ts";
import type { Output } from "./output.ts";
import type { RunTail } from "./run-tail.ts";
import { type StopCause, stopCodeOf } from "./stop-cause.ts";

export interface AttemptParts {
  readonly start: StartObserver;
  readonly runId: RunId;
  readonly definition: ObserverDefinition;
  readonly params: unknown;
  readonly output: Output;
  /** Carries the observer and the run already. */
  readonly log: Log;
  /** Keeps what the handler says; asked for when it says something. */
  readonly tail: () => RunTail;
  readonly stopTimeoutMs: number;
  /** The handler is over; called exactly once. */
  onSettled(outcome: RunOutcome): void;
  /** An error that nobody caught came out of the running handler. */
  onUncaught(error: unknown): void;
  /** It was told to end `stopTimeoutMs` ago and has not settled. */
  onStuck(): void;
}

/** One start of a handler. The handler's own code is only ever entered through here. */
export interface Attempt {
  /** Only the first call counts. `error` becomes the cause of the signal's reason. */
  abort(cause: StopCause, error?: unknown): void;
}

const LONGEST_COMPLAINT_PAUSE_MS = 600_000;

export function startAttempt(parts: AttemptParts): Attempt {
  const { start, runId, definition, log } = parts;
  const controller = new AbortController();
  let settled = false;
  let complaint: NodeJS.Timeout | undefined;

  const owner: Owner = {
    uncaught(error) {
      logTrouble(
        log,
        error,
        settled ? "a run that had ended threw; nothing depends on it" : "an error that nobody caught fails this attempt",
      );
      if (!settled) parts.onUncaught(error);
    },
  };
  const { context, end } = createRunContext({
    params: parts.params,
    signal: controller.signal,
    observer: Object.freeze({
      id: start.observerId,
      name: start.name,
      type: start.type,
      labels: Object.freeze({ ...start.labels }),
    }),
    runId,
    writeLog: (level, message, fields) => {
      writeLine(log, level, message, fields);
      // No more than the log itself has.
      if (log.isLevelEnabled(level)) parts.tail().line(level, String(message), fields);
    },
    publish: (eventJson) => {
      parts.tail().value(eventJson);
      return parts.output(start, runId, eventJson);
    },
  });
  const settle = (outcome: RunOutcome): void => {
    settled = true;
    end();
    clearTimeout(complaint);
    if (outcome.outcome !== "completed" && outcome.error)
      logTrouble(log, outcome.error, `the handler ${outcome.outcome === "failed" ? "failed" : "threw while stopping"}`);
    parts.onSettled(outcome);
  };

  // Not awaited: a run lives as long as it likes. settleRun turns every end into data; the second handler is for a thrown
  // value that cannot even be looked at.
  void runAs(owner, () => settleRun(definition, context)).then(settle, (thrown: unknown) =>
    settle({ outcome: "failed", error: new Error(errorText(thrown).message) }),
  );

  const complain = (afterMs: number, totalMs: number): void => {
    complaint = setTimeout(() => {
      log.error(
        { event: "handler-does-not-stop", forMs: totalMs },
        "the handler ignores its abort; it keeps its worker until it settles",
      );
      if (totalMs === afterMs) parts.onStuck();
      const nextMs = Math.min(totalMs, LONGEST_COMPLAINT_PAUSE_MS);
      complain(nextMs, totalMs + nextMs);
    }, afterMs).unref();
  };

  return {
    abort(cause, error) {
      if (controller.signal.aborted || settled) return;
      complain(parts.stopTimeoutMs, parts.stopTimeoutMs);
      const reason = new ObserverStopped(stopCodeOf(cause), undefined, error === undefined ? undefined : { cause: error });
      // Abort listeners are the observer's code: what they throw is the observer's too.
      runAs(owner, () => controller.abort(reason));
    },
  };
}

function logTrouble(log: Log, thrown: unknown, message: string): void {
  log.warn({ event: "observer-error", error: errorText(thrown), stack: stackOf(thrown) }, message);
}

function writeLine(log: Log, level: LogLevel, message: string, fields: LogFields = {}): void {
  try {
    log[level]({ fields }, String(message));
  } catch (error) {
    log.warn(
      { event: "log-fields-unwritable", error: errorText(error).message },
      "a line of the observer's log could not be written",
    );
  }
}
