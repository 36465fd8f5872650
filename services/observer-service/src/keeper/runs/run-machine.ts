import { type ErrorText, nextRetryDelayMs, type RetryPolicy, type RUN_STOPPED_REASONS } from "@unacked/contracts";
import { endsForGood, FENCED_BY_SLOT, hasTheLastWord, isStronger, type StopCause } from "../../wire/stop-cause.ts";

/**
 * One run's life as (state, input) → {state, effects}, with neither clock nor broker in it.
 *
 * In: a turn to start, the handler's settling, timers, orders to stop. Out: what to do, in order. Every run that is not
 * told to go on ends in exactly one `end` or `restart` effect; a crash in the middle leaves the message unacked.
 */
export type RunState =
  /**
   * Accepted. It waits for its turn: starts are paced, and an older run of the observer may still be settling. Failures
   * carry over from the run that it follows after an interruption.
   */
  | { phase: "waiting"; failures: number }
  /** It has had its turn, and has asked whether its handler may start. */
  | { phase: "requested"; failures: number }
  /** Its handler runs. `failures`: attempts that failed since the start or since it was last well. */
  | { phase: "running"; failures: number }
  /** Its handler failed; it is started again after a delay, the message still unacked. */
  | { phase: "backing-off"; failures: number }
  /**
   * Told to end. With `handler`, the handler has been told and has not settled; else it waits for its turn to end. `mayComplete`: each
   * cause so far would only have it go on, here or elsewhere.
   */
  | { phase: "stopping"; cause: StopCause; failures: number; handler: boolean; mayComplete: boolean }
  /** Over for good. Its error report is on its way and the fact follows it. `limited`: a drain does not wait long for that. */
  | { phase: "reporting"; fact: ReportedFact; limited?: true }
  | { phase: "over" };

/** stopped: it was told to end, and has; either by us, or only by its slot. */
export type Settled = { kind: "completed" } | { kind: "stopped" } | { kind: "failed"; error: ErrorText };

export type RunInput =
  | { kind: "turn" }
  /** It has its turn, but has to ask first. */
  | { kind: "ask" }
  /** What it asked for has come: it may start. */
  | { kind: "admitted" }
  | { kind: "bad-params"; error: ErrorText }
  | { kind: "settled"; how: Settled; random: number }
  /** The handler has gone with its slot, through no fault of its own. */
  | { kind: "interrupted"; why: string }
  | { kind: "retry-due" }
  /** It is due, or admitted, but there is no slot for it. */
  | { kind: "no-room"; why: string }
  /** The handler ran for `resetAfterMs` without failing. */
  | { kind: "well" }
  | { kind: "reported" }
  /** The broker has not taken the report within the time of `limit-report`. */
  | { kind: "not-reported" }
  /** The handler was told to end long ago and still has not settled. */
  | { kind: "stuck" }
  | { kind: "stop"; cause: StopCause };

type FailedFact = { kind: "RunFailed"; attempts: number; error: ErrorText };
type StoppedFact = {
  kind: "RunStopped";
  reason: Exclude<(typeof RUN_STOPPED_REASONS)[number], "superseded">;
  interruption?: string;
};
/** A fact that is sent only after the message was put to the errors, or the run was told to end. */
type ReportedFact = FailedFact | StoppedFact;

/** A fact about a run. Its identity and its time are added outside. */
export type RunFact =
  | { kind: "RunRequested" }
  | { kind: "RunStarted"; attempt: number }
  | { kind: "RunRetrying"; attempt: number; error: ErrorText; delayMs: number }
  | StoppedFact
  | { kind: "RunCompleted" }
  | { kind: "RunReleased"; reason: "draining" | "lease-lost"; moved?: true; typeGone?: true }
  | FailedFact;

/** What becomes of the message once the end is confirmed. `leave`: it is not ours any more. */
export type Settlement = "ack" | "requeue" | "leave";

export type RunEffect =
  | { kind: "start-handler" }
  | { kind: "abort-handler"; cause: StopCause }
  | { kind: "wait-to-retry"; delayMs: number }
  /** Send `well` when the handler has run this long. */
  | { kind: "watch-health"; afterMs: number }
  | { kind: "tell"; fact: RunFact }
  | { kind: "report"; reason: "retries-used-up" | "bad-params" | "unknown-observer"; fact: ReportedFact }
  /** Send `not-reported` when the report has had this long. */
  | { kind: "limit-report"; limitMs: number }
  | { kind: "end"; fact: RunFact; settlement: Settlement }
  /**
   * Send RunStopped(restarted), and what interrupted it, if anything did. A new run takes over the message, and this many failures.
   */
  | { kind: "restart"; failures: number; interruption?: string };

export interface RunStep {
  state: RunState;
  effects: RunEffect[];
}

export const NEW_RUN: RunState = { phase: "waiting", failures: 0 };
const OVER: RunState = { phase: "over" };

export function stepRun(state: RunState, input: RunInput, policy: RetryPolicy): RunStep {
  switch (state.phase) {
    case "waiting":
      return stepWaiting(state, input, policy);
    case "requested":
      return stepRequested(state, input, policy);
    case "running":
      return stepRunning(state, input, policy);
    case "backing-off":
      return stepBackingOff(state, input, policy);
    case "stopping":
      return stepStopping(state, input, policy);
    case "reporting":
      return stepReporting(state, input);
    case "over":
      return ignored(state);
    default:
      return state satisfies never;
  }
}

function stepWaiting(state: RunState & { phase: "waiting" }, input: RunInput, policy: RetryPolicy): RunStep {
  if (input.kind === "turn") return begun(state.failures, policy);
  if (input.kind === "ask")
    return {
      state: { phase: "requested", failures: state.failures },
      effects: [{ kind: "tell", fact: { kind: "RunRequested" } }],
    };
  if (input.kind === "bad-params") return failedForGood("bad-params", 0, input.error);
  if (input.kind === "no-room") return { state, effects: [{ kind: "tell", fact: noRoom(state.failures, input.why) }] };
  if (input.kind !== "stop") return ignored(state);
  const { cause } = input;
  // Nothing runs yet. But the order is repeated until a run has ended by it, and would end the handler just after that has begun.
  if (cause.kind === "restarted") return finished(cause, 0, undefined);
  if (!endsForGood(cause)) return ignored(state);
  if (["lease-lost", "draining", "shed", "type-gone"].includes(cause.kind)) return finished(cause, 0, undefined);
  // Its end would say that the observer is over while an older run of it may still be settling, so it waits for its turn.
  return { state: { phase: "stopping", cause, failures: 0, handler: false, mayComplete: false }, effects: [] };
}

/**
 * It holds its worker and its message, but nothing of it runs; nor does an older run of the observer, as it has had its turn.
 */
function stepRequested(state: RunState & { phase: "requested" }, input: RunInput, policy: RetryPolicy): RunStep {
  if (input.kind === "admitted") return begun(state.failures, policy);
  if (input.kind === "bad-params") return failedForGood("bad-params", 0, input.error);
  if (input.kind === "no-room") return { state, effects: [{ kind: "tell", fact: noRoom(state.failures, input.why) }] };
  if (input.kind !== "stop" || input.cause.kind === "uncaught" || input.cause.kind === "moved") return ignored(state);
  return finished(input.cause, state.failures, undefined);
}

const begun = (failures: number, policy: RetryPolicy): RunStep =>
  started(failures, failures === 0 ? [] : [{ kind: "watch-health", afterMs: policy.resetAfterMs }]);

function stepRunning(state: RunState & { phase: "running" }, input: RunInput, policy: RetryPolicy): RunStep {
  switch (input.kind) {
    case "settled":
      if (input.how.kind === "failed") return failedAttempt(state.failures + 1, input.how.error, input.random, policy);
      // It was not stopped by us. Whether the lease is over is decided by the part that starts it again, which asks.
      if (input.how.kind === "stopped")
        return { state: OVER, effects: [{ kind: "restart", failures: state.failures, interruption: FENCED_BY_SLOT }] };
      return ended({ kind: "RunCompleted" }, "ack");
    case "well":
      return {
        state: { phase: "running", failures: 0 },
        effects: [{ kind: "tell", fact: { kind: "RunStarted", attempt: 1 } }],
      };
    case "stop": {
      const { cause } = input;
      return {
        state: { phase: "stopping", cause, failures: state.failures, handler: true, mayComplete: !hasTheLastWord(cause) },
        effects: [{ kind: "abort-handler", cause }],
      };
    }
    case "interrupted":
      return { state: OVER, effects: [{ kind: "restart", failures: state.failures, interruption: input.why }] };
    case "bad-params": // reported by the slot that was to run it
      return failedForGood("bad-params", 0, input.error);
    case "turn":
    case "ask":
    case "admitted":
    case "retry-due":
    case "no-room":
    case "reported":
    case "not-reported":
    case "stuck":
      return ignored(state);
    default:
      return input satisfies never;
  }
}

function stepBackingOff(state: RunState & { phase: "backing-off" }, input: RunInput, policy: RetryPolicy): RunStep {
  if (input.kind === "retry-due") return started(state.failures, [{ kind: "watch-health", afterMs: policy.resetAfterMs }]);
  if (input.kind === "no-room") return { state, effects: [{ kind: "tell", fact: noRoom(state.failures, input.why) }] };
  if (input.kind !== "stop" || input.cause.kind === "uncaught" || input.cause.kind === "moved") return ignored(state);
  return finished(input.cause, state.failures, undefined);
}

/** It must not be shown as well. The message knows no attempt before the first. */
const noRoom = (failures: number, message: string): RunFact => ({
  kind: "RunRetrying",
  attempt: Math.max(1, failures),
  error: { name: "NoSlotError", message },
  delayMs: 0,
});

function stepStopping(state: RunState & { phase: "stopping" }, input: RunInput, policy: RetryPolicy): RunStep {
  if (input.kind === "settled" && state.handler) {
    // It had returned before it heard of the cause, or it would be `stopped`. If it ran again, it would do all its work twice.
    if (input.how.kind === "completed" && state.mayComplete) return ended({ kind: "RunCompleted" }, "ack");
    return finished(state.cause, state.failures, { random: input.random, policy });
  }
  if ((input.kind === "interrupted" || input.kind === "bad-params") && state.handler)
    return finished(state.cause, state.failures, { random: 0.5, policy });
  if (input.kind === "turn" && !state.handler) return finished(state.cause, state.failures, undefined);
  if (input.kind === "stuck") return stuck(state);
  if (input.kind !== "stop") return ignored(state);
  const mayComplete = state.mayComplete && !hasTheLastWord(input.cause);
  if (!isStronger(input.cause, state.cause)) return ignored({ ...state, mayComplete });
  const noHandlerToWaitFor = !state.handler && input.cause.kind === "lease-lost";
  if (noHandlerToWaitFor) return finished(input.cause, state.failures, undefined);
  // Its signal aborts only once, but its emits have to end with the lease.
  const effects: RunEffect[] = state.handler ? [{ kind: "abort-handler", cause: input.cause }] : [];
  return { state: { ...state, cause: input.cause, mayComplete }, effects };
}

/** It cannot be started again while its old handler may still act, but it must not be shown as well. */
function stuck(state: RunState & { phase: "stopping" }): RunStep {
  if (state.cause.kind !== "uncaught") return ignored(state);
  const { name, message } = state.cause.error;
  const error = {
    name,
    message: `Its handler has not settled since an error that nobody caught: ${message}`.slice(0, 16_384),
  };
  const fact: RunFact = { kind: "RunRetrying", attempt: state.failures + 1, error, delayMs: 0 };
  return { state, effects: [{ kind: "tell", fact }] };
}

/** A broker that takes reports does so in milliseconds. */
const REPORT_LIMIT_MS = 3_000;

/**
 * A stop does not wait for the broker to take the report. A drain waits for a moment, then gives the message back, to fail elsewhere once
 * more. A move waits, as there is nothing to go on elsewhere.
 */
function stepReporting(state: RunState & { phase: "reporting" }, input: RunInput): RunStep {
  if (input.kind === "reported") return ended(state.fact, "ack");
  if (input.kind === "not-reported") return finished({ kind: "draining" }, 0, undefined);
  if (input.kind !== "stop" || !endsForGood(input.cause)) return ignored(state);
  if (input.cause.kind === "shed" || input.cause.kind === "type-gone") return ignored(state);
  if (input.cause.kind === "lease-lost") return finished(input.cause, 0, undefined);
  if (input.cause.kind === "draining") return state.limited ? ignored(state) : limited(state);
  // The manager has lost this observer: the report is the only remaining copy of its message, and has to say so.
  if (state.fact.kind === "RunStopped") return ignored(state);
  if (input.cause.kind !== "unknown") return ended(state.fact, "ack");
  return state.limited ? ignored(state) : finished(input.cause, 0, undefined);
}

const limited = (state: RunState & { phase: "reporting" }): RunStep => ({
  state: { ...state, limited: true },
  effects: [{ kind: "limit-report", limitMs: REPORT_LIMIT_MS }],
});

function started(failures: number, more: RunEffect[]): RunStep {
  return {
    state: { phase: "running", failures },
    effects: [{ kind: "tell", fact: { kind: "RunStarted", attempt: failures + 1 } }, { kind: "start-handler" }, ...more],
  };
}

function failedAttempt(failures: number, error: ErrorText, random: number, policy: RetryPolicy): RunStep {
  const delayMs = nextRetryDelayMs(policy, failures, random);
  if (delayMs === null) return failedForGood("retries-used-up", failures, error);
  return {
    state: { phase: "backing-off", failures },
    effects: [
      { kind: "tell", fact: { kind: "RunRetrying", attempt: failures, error, delayMs } },
      { kind: "wait-to-retry", delayMs },
    ],
  };
}

function failedForGood(reason: "retries-used-up" | "bad-params", attempts: number, error: ErrorText): RunStep {
  const fact: FailedFact = { kind: "RunFailed", attempts, error };
  return reported(reason, fact);
}

const reported = (reason: (RunEffect & { kind: "report" })["reason"], fact: ReportedFact): RunStep => ({
  state: { phase: "reporting", fact },
  effects: [{ kind: "report", reason, fact }],
});

type RetryChance = { random: number; policy: RetryPolicy };

/** The handler (if there was one) has settled: what the cause makes of the run. */
function finished(cause: StopCause, failures: number, chance: RetryChance | undefined): RunStep {
  switch (cause.kind) {
    case "uncaught":
      return chance === undefined ? ignored(OVER) : failedAttempt(failures + 1, cause.error, chance.random, chance.policy);
    case "restarted":
      return {
        state: OVER,
        effects: [{ kind: "restart", failures: 0, ...(cause.why !== undefined && { interruption: cause.why }) }],
      };
    case "moved":
      return { state: OVER, effects: [{ kind: "restart", failures, interruption: cause.why }] };
    case "draining":
      return ended({ kind: "RunReleased", reason: "draining" }, "requeue");
    case "shed":
      return ended({ kind: "RunReleased", reason: "draining", moved: true }, "requeue");
    case "type-gone":
      return ended({ kind: "RunReleased", reason: "draining", typeGone: true }, "requeue");
    case "lease-lost":
      return ended({ kind: "RunReleased", reason: "lease-lost" }, "leave");
    case "stopped":
    case "duplicate":
    case "obsolete":
    case "not-wanted":
      return ended({ kind: "RunStopped", reason: cause.kind }, "ack");
    case "unknown":
      return reported("unknown-observer", { kind: "RunStopped", reason: "unknown" });
    default:
      return cause satisfies never;
  }
}

const ended = (fact: RunFact, settlement: Settlement): RunStep => ({
  state: OVER,
  effects: [{ kind: "end", fact, settlement }],
});

const ignored = (state: RunState): RunStep => ({ state, effects: [] });
