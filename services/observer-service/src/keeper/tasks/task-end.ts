import { DEFAULT_RETRY, type ErrorText, isJson, nextRetryDelayMs, type TaskEnded } from "@unacked/contracts";
import type { RunOutcome } from "@unacked/sdk";
import { taskTimeoutError } from "@unacked/sdk/host";
import { asError, errorText, sendableText, thrownText } from "../../error-text.ts";
import type { TaskWord } from "../../wire/attempt.ts";
import type { TaskTypeEntry } from "../../wire/messages.ts";
import { FENCED_BY_SLOT, type StopCause } from "../../wire/stop-cause.ts";

/** What becomes of a task's message, and what is reported: an end, a release, or that it begins again here. */
export type TaskFate =
  | {
      kind: "end";
      fact: Pick<TaskEnded, "outcome" | "output" | "error" | "retryInMs" | "postponement" | "completedBy" | "creations">;
    }
  /** It goes back to the queue. After a lost lease it is not ours to give. */
  | { kind: "release"; isOurs: boolean }
  | { kind: "again"; why?: string | undefined }
  /** It goes back to the manager, which sends it again. */
  | { kind: "return"; isRedelivered: boolean; interruption?: string | undefined; noSlot?: true }
  /** A newer send of it is here, so nobody waits for this one. */
  | { kind: "drop" };

export interface AttemptEnd {
  readonly outcome: RunOutcome;
  readonly word: TaskWord;
  /** The cause for which it was told to end. */
  readonly cause: StopCause | undefined;
  /** Why it begins again, where neither the outcome nor the cause says it. */
  readonly why?: string;
}

export interface TaskLimits {
  readonly failures: number;
  /** The bound that its creator set. */
  readonly maxAttempts: number | undefined;
  readonly retry: TaskTypeEntry["retry"];
}

/** The handler has settled. @param random from 0 up to 1 */
export function fateOf({ outcome, word, cause, why }: AttemptEnd, limits: TaskLimits, random: number): TaskFate {
  // It has put itself off, which an interruption does not change; but a lost lease does, or a timeout, or that nobody wants it.
  if (word.postponement !== undefined && (cause === undefined || !ENDS_WORK.has(cause.kind)))
    return { kind: "end", fact: { outcome: "postponed", postponement: word.postponement } };
  // It had completed before it heard of the cause. Who has put itself off has not, whatever its handler returned.
  const isDone = outcome.outcome === "completed" && word.postponement === undefined && cause?.kind !== "lease-lost";
  // An uncaught error says itself that a retry would not help. A timeout does not say that.
  const isFinal = cause?.kind === "uncaught" && outcome.outcome === "failed" && word.isFinal === true;
  if (cause !== undefined && !isDone && !isFinal) return fateOfInterrupted(withItsEnd(cause, outcome), limits, random);
  switch (outcome.outcome) {
    case "completed":
      return isJson(word.output) // a slot is not trusted to send JSON
        ? { kind: "end", fact: { outcome: "completed", output: word.output, ...besideOutput(word) } }
        : failed(NOT_JSON, limits, random, true);
    case "failed": {
      const error = thrownText(outcome.error);
      if (ENDS_SLOTS.has(error.name)) return { kind: "end", fact: { outcome: "crashed", error } };
      return failed(error, limits, random, word.isFinal === true);
    }
    // Its own slot stopped it, as it found the lease over: the keeper is about to.
    case "stopped":
      return { kind: "again", why: why ?? FENCED_BY_SLOT };
    default:
      return outcome satisfies never;
  }
}

/** Its time was up, or nobody caught an error of it, and then it ended its slot: by blocking it, most likely, which is why its time was up. */
function withItsEnd(cause: StopCause, outcome: RunOutcome): StopCause {
  if (cause.kind !== "uncaught" || outcome.outcome !== "failed" || !ENDS_SLOTS.has(outcome.error.name)) return cause;
  const { name, message, stack } = thrownText(outcome.error);
  return { ...cause, error: { ...cause.error, message: `${cause.error.message}: ${name}: ${message}`, stack } };
}

/**
 * It has gone with its slot, through no fault of its own. The cause that it had been told comes first; where its time was up, with the end of
 * its slot: another may have blocked that all the time.
 *
 * @param slotEnd how its slot ended, and who did it
 */
export const fateOfInterrupted = (
  cause: StopCause | undefined,
  limits: TaskLimits,
  random: number,
  slotEnd?: string,
): TaskFate => {
  if (cause === undefined) return { kind: "again", why: slotEnd };
  if (cause.kind !== "uncaught") return fateOfStopped(cause);
  const { error, isFinal } = cause;
  const isLate = error.name === TIME_IS_UP && slotEnd !== undefined;
  const told = isLate ? { ...error, message: `${error.message}; ${slotEnd}` } : error;
  return failed(told, limits, random, isFinal === true);
};

/**
 * The end of one task of a call: its reported result, else the outcome of the whole. If the call ended its slot, blocked it or
 * made it grow, the tasks are sent again one by one, which shows whose fault it was.
 */
export function memberEnd(outcome: RunOutcome, { members, isFinal }: TaskWord, taskId: string): Omit<AttemptEnd, "cause"> {
  const told = members?.get(taskId);
  if (told?.error !== undefined)
    return { outcome: { outcome: "failed", error: asError(told.error) }, word: { isFinal: told.isFinal } };
  if (told !== undefined) return { outcome: { outcome: "completed" }, word: { output: told.output } };
  if (outcome.outcome === "completed") return { outcome: { outcome: "failed", error: asError(NO_RESULT) }, word: {} };
  if (outcome.outcome === "failed" && ENDS_CALLS.has(outcome.error.name)) {
    const { name, message } = outcome.error;
    return { outcome: { outcome: "stopped" }, word: {}, why: `the call that it was in ended its slot: ${name}: ${message}` };
  }
  return { outcome, word: { isFinal } };
}

const NO_RESULT: ErrorText = { name: "NoResult", message: "nothing was told of this task of a batch" };

export const badParams = (error: ErrorText): TaskFate => ({
  kind: "end",
  fact: { outcome: "failed", error, retryInMs: null },
});

export const timeIsUp = (timeoutMs: number): ErrorText => errorText(taskTimeoutError(timeoutMs));
const TIME_IS_UP = timeIsUp(0).name;

const besideOutput = ({ isEmergency, creations }: TaskWord): Pick<TaskEnded, "completedBy" | "creations"> => ({
  ...(isEmergency && { completedBy: "emergency" }),
  ...(creations !== undefined && { creations }),
});

/** Causes that override a handler's wish to go on later. */
const ENDS_WORK: ReadonlySet<StopCause["kind"]> = new Set([
  ...(["uncaught", "lease-lost", "stopped", "not-wanted", "unknown", "obsolete", "duplicate"] as const),
]);

/** Errors of a run that ended its slot: it was alone in it, or blocked it. */
const ENDS_SLOTS: ReadonlySet<string> = new Set(["SlotEndedError", "HandlerBlockedError"]);

/** For a call these are added: it took more memory, or descriptors, than its slot may. For a single task that is a failed attempt. */
const ENDS_CALLS: ReadonlySet<string> = new Set([...ENDS_SLOTS, "MemoryLimitError", "DescriptorLimitError"]);

const NOT_JSON: ErrorText = { name: "InvalidOutput", message: "what the handler returned did not arrive as JSON" };

function fateOfStopped(cause: Exclude<StopCause, { kind: "uncaught" }>): TaskFate {
  switch (cause.kind) {
    case "moved":
    case "restarted":
      return { kind: "again", why: cause.why };
    case "shed":
    case "type-gone":
    case "draining":
      return { kind: "release", isOurs: true };
    case "lease-lost":
      return { kind: "release", isOurs: false };
    case "obsolete":
    case "duplicate":
      return { kind: "drop" };
    case "stopped":
    case "not-wanted":
    case "unknown":
      return { kind: "end", fact: { outcome: "cancelled" } };
    default:
      return cause satisfies never;
  }
}

function failed(error: ErrorText, { failures, maxAttempts, retry }: TaskLimits, random: number, isFinal: boolean): TaskFate {
  const { initialMs, factor, maxMs, jitter } = retry;
  const delaysMs = { initialMs, factor, maxMs, jitter };
  const policy = { ...DEFAULT_RETRY, maxAttempts: maxAttempts ?? retry.maxAttempts, delaysMs };
  const retryInMs = isFinal ? null : nextRetryDelayMs(policy, failures + 1, random);
  const { name, message, stack } = error;
  const told = { name: sendableText(name, 256), message: sendableText(message, 16_384), ...(stack && { stack }) };
  return { kind: "end", fact: { outcome: "failed", error: told, retryInMs } };
}
