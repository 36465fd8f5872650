import type { Delivery } from "@unacked/broker";
import { newRunId, type RunId, type StartObserver } from "@unacked/contracts";
import type { TraceContext } from "@unacked/tracing";
import type { Log } from "../../log.ts";
import type { Attempt, RunTrace } from "../../wire/attempt.ts";
import { NEW_RUN, type RunState } from "./run-machine.ts";
import type { RunTail } from "./run-tail.ts";

/** A run with what belongs to it at the rim: its message, its handler, its timer. */
export interface LiveRun {
  readonly start: StartObserver;
  readonly runId: RunId;
  readonly delivery: Delivery;
  readonly log: Log;
  state: RunState;
  /** The manager may have heard of it (RunStarted, Inventory), so its end has to be told. */
  announced: boolean;
  /** The handler that runs, or ran last. */
  attempt?: Attempt;
  /** The error that nobody caught and that ends this attempt, as it was thrown. */
  uncaught?: unknown;
  /** It was told that it waits for a slot. */
  waitsForRoom?: boolean;
  /** Of the retry, or of the run's getting its attempts back. */
  timer?: NodeJS.Timeout;
  /** What it said last; made when it says something, as most say little and there are many. */
  tail?: RunTail;
  /** Only where runs are traced. */
  trace?: RunTrace;
  /** Ends the wait for the confirm of its error report. */
  reporting?: AbortController;
}

export type AcceptedStart = {
  readonly start: StartObserver;
  readonly delivery: Delivery;
  /** That of the message, where runs are traced. */
  readonly traceContext?: TraceContext | undefined;
};

export function newLiveRun({ start, delivery }: AcceptedStart, log: Log): LiveRun {
  return new FreshRun(start, delivery, log);
}

class FreshRun implements LiveRun {
  readonly start: StartObserver;
  readonly runId = newRunId();
  readonly delivery: Delivery;
  state: RunState = NEW_RUN;
  announced = false;
  #log: Log;
  #hasOwnLog = false;

  constructor(start: StartObserver, delivery: Delivery, log: Log) {
    this.start = start;
    this.delivery = delivery;
    this.#log = log;
  }

  /** Made when it is first written to: it costs as much memory as the rest of an idle run's bookkeeping. */
  get log(): Log {
    if (!this.#hasOwnLog) {
      const { name: observer, type, observerId } = this.start;
      this.#log = this.#log.child({ observer, type, observerId, runId: this.runId });
      this.#hasOwnLog = true;
    }
    return this.#log;
  }
}

/** Whether the observer's own code is, or may be, executing for this run. */
export function hasHandler({ state }: LiveRun): boolean {
  return state.phase === "running" || (state.phase === "stopping" && state.handler);
}

/** What `attempt` of an event or an inventory is: the one that runs, or the one it waits for. */
export function attemptOf({ state }: LiveRun): number {
  switch (state.phase) {
    case "waiting":
    case "running":
    case "backing-off":
    case "stopping":
      return state.failures + 1;
    case "reporting":
    case "over":
      return 1;
    default:
      return state satisfies never;
  }
}
