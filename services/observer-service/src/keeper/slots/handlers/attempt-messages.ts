import type { ErrorText } from "@unacked/contracts";
import { type RunOutcome, SdkError } from "@unacked/sdk";
import { asError } from "../../../error-text.ts";
import type { Log } from "../../../log.ts";
import { GOES_ON_AFTER_END, type Late, THREW_AFTER_END } from "../../../wire/late.ts";
import { FENCED_BY_SLOT } from "../../../wire/stop-cause.ts";
import type { Occupants } from "../placement/occupants.ts";
import { type Placed, type Reason, writeLine } from "../placement/placed.ts";
import type { Slot } from "../slot.ts";
import type { LoadedMessage } from "../supply/slot-supply.ts";

export interface AttemptMessagesParts {
  readonly log: Log;
  readonly occupants: Pick<Occupants, "find">;
  /** The handler is over: it is in its slot no more. @param outcome of one that has run to its end */
  over(slot: Slot, placed: Placed, outcome?: RunOutcome["outcome"]): void;
  /** A handler goes on after its end, which is already logged. */
  late?(late: Late): void;
  /** The slot ends itself, with this reason. */
  ends(slot: Slot, reason: Reason): void;
}

/**
 * Passes what slots say about their handlers on to the runs that these belong to. Messages about a settled handler are dropped, and
 * answered if its slot waits for that.
 */
export class AttemptMessages {
  readonly #parts: AttemptMessagesParts;

  constructor(parts: AttemptMessagesParts) {
    this.#parts = parts;
  }

  take(slot: Slot, message: LoadedMessage): void {
    const { log, occupants, over, ends, late } = this.#parts;
    if (message.kind === "unattributed") {
      const fields = { event: "slot-failed", slot: slot.process.pid, error: message.error };
      log.error(fields, "an error that belongs to no observer ends this slot");
      return ends(slot, { kind: "nobodys-error", what: "unowned-error", error: message.error });
    }
    if (message.kind === "file-error") {
      const { file, error, times } = message;
      const fields = { event: "observer-file-error", slot: slot.process.pid, file, times, error };
      return log.error(
        fields,
        "a file of observers threw an error outside of any run: no observer is blamed, and none fails",
      );
    }
    if (message.kind === "late") {
      logLate(log, slot, message);
      return late?.(message);
    }
    const placed = occupants.find(slot, message.attempt);
    if (message.kind === "log") slot.logCredit.lineWritten();
    if (placed === undefined) return answerLate(slot, message); // it has settled, and left a timer behind
    const { run, host } = placed;
    switch (message.kind) {
      case "bad-params":
        over(slot, placed);
        return host.onBadParams(run, message.error);
      case "not-begun":
        if (placed.line === undefined || host.onNotBegun === undefined) return; // it was not put behind another run
        over(slot, placed);
        return host.onNotBegun(run);
      case "fenced":
        if (placed.cause !== undefined) return; // it has been told to end already, with a limit
        run.log.warn({ event: "run-fenced-by-slot" }, "its slot regarded the lease as over: it begins again");
        return host.onMoved(run, { detail: FENCED_BY_SLOT });
      case "settled":
        over(slot, placed, message.outcome);
        // The schema for messages of slots does not accept `members`, so a slot cannot send its own.
        return host.onSettled(run, outcomeOf(message), { members: placed.results, ...message });
      case "results":
        // A slot may say anything, so results of other tasks are not kept.
        placed.results ??= new Map();
        for (const result of message.results) if (run.isMember?.(result.taskId)) placed.results.set(result.taskId, result);
        return;
      case "uncaught":
        return host.onUncaught(run, asError(message.error), message.isFinal);
      case "silence":
        return host.onSilence?.(run, message.quietForMs);
      case "updated": {
        const { specVersion, outcome, reason } = message;
        return host.onUpdated?.(run, { specVersion, outcome, ...(reason !== undefined && { reason }) });
      }
      case "thrown":
        return host.tailOf(run).thrown(message.what, message.error);
      case "emit":
        return publish(slot, placed, message.emit, message.json);
      case "save":
        return save(slot, placed, message.save, message.json);
      case "log":
        return writeLine(placed, message);
      case "lines-dropped":
        host.tailOf(run).dropped?.(message.lines);
        return run.log.warn(
          { event: "lines-dropped", lines: message.lines },
          "it logs faster than its lines can be written: some were dropped",
        );
      default:
        return message satisfies never;
    }
  }
}

/** Logs like the lines of a run, for one that no longer exists. */
function logLate(log: Log, { process }: Slot, { observer, task, type, runId, error, times }: Late): void {
  const who = observer === undefined ? { task } : { observer: observer.name, observerId: observer.id };
  const about = { ...who, type, runId, slot: process.pid, times };
  if (error === undefined) return log.warn({ event: "run-goes-on-after-end", ...about }, GOES_ON_AFTER_END);
  log.warn({ event: "run-threw-after-end", ...about, error }, THREW_AFTER_END);
}

/** A slot may say that a run has failed, but not with which error. */
function outcomeOf({ outcome, error }: Extract<LoadedMessage, { kind: "settled" }>): RunOutcome {
  if (outcome === "failed") return { outcome, error: asError(error ?? NOT_TOLD) };
  return { outcome, ...(error && { error: asError(error) }) };
}

const NOT_TOLD: ErrorText = { name: "Error", message: "its slot has not told of what it failed" };

/** An emit takes one of the places that all handlers of its slot share, until it is answered. */
function answerLate({ process }: Slot, message: Exclude<LoadedMessage, { kind: "unattributed" }>): void {
  if (message.kind === "emit") {
    const { attempt, emit } = message;
    process.send({ kind: "emitted", attempt, emit, error: answerOf(new SdkError("emit-after-end", LATE)) });
  }
  if (message.kind === "save") {
    const { attempt, save } = message;
    process.send({ kind: "saved", attempt, save, error: answerOf(new SdkError("save-after-end", LATE)) });
  }
}

const LATE = "the run had ended before this came to its service";

function save(slot: Slot, { id, run, host }: Placed, number: number, json: string): void {
  host.saving?.save(run, json).then(
    () => slot.process.send({ kind: "saved", attempt: id, save: number }),
    (error: unknown) => slot.process.send({ kind: "saved", attempt: id, save: number, error: answerOf(error) }),
  );
}

function answerOf(error: unknown): { name: string; message: string; code?: string } {
  const { name, message, code } = error as Error & { code?: unknown };
  return { name, message, ...(typeof code === "string" && { code }) };
}

function publish(slot: Slot, { id, run, host }: Placed, emit: number, json: string): void {
  host.tailOf(run).value(json);
  host.publish(run, json, slot.living.signal).then(
    () => slot.process.send({ kind: "emitted", attempt: id, emit }),
    (error: unknown) => slot.process.send({ kind: "emitted", attempt: id, emit, error: answerOf(error) }),
  );
}
