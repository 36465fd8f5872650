import type { Delivery } from "@unacked/broker";
import {
  type AdmittedSpec,
  type Checkpoint,
  type ErrorReport,
  newRunId,
  type ReportedStart,
  type RunId,
  type StartObserver,
} from "@unacked/contracts";
import type { TraceContext } from "@unacked/tracing";
import type { Log } from "../../log.ts";
import type { Admission, Attempt, RunTrace } from "../../wire/attempt.ts";
import { NEW_RUN, type RunState } from "./run-machine.ts";
import type { RunTail } from "./run-tail.ts";

/** A run with its message, its handler, and its timer. */
export interface LiveRun {
  /** The start of an admitted run has the spec that it was admitted with. */
  start: StartObserver;
  readonly runId: RunId;
  readonly delivery: Delivery;
  readonly log: Log;
  state: RunState;
  /** Whether the manager may have heard of it (RunStarted, Inventory), so that its end has to be sent. */
  announced: boolean;
  /** Whether its type asks before its handler starts. */
  readonly isAdmitted: boolean;
  /** The permission to start, and what it starts with. */
  admission?: Admission;
  readonly fencingToken: number | undefined;
  /** Whether its type saves how far its runs have got. */
  readonly hasCheckpoint: boolean;
  /** The checkpoint that it has saved last. */
  saved?: Checkpoint;
  /** The checkpoint that its next attempt starts with, as JSON. */
  readonly checkpoint: string | undefined;
  /** Whether its handler has begun at least once. */
  hasBegun: boolean;
  /** The handler that runs, or ran last. */
  attempt?: Attempt;
  /** Whether it was reported that it waits for a slot. */
  waitsForRoom?: boolean;
  /** The timer of the retry, of the reset of the attempts, or of the report's limit. */
  timer?: NodeJS.Timeout;
  /** Its last lines. Created when it says something, as most say little and there are many. */
  tail?: RunTail;
  /** Set only if runs are traced. */
  trace?: RunTrace;
  /** Since when its handler has had no beat, if it was ever silent, and whether that was reported. */
  silence?: { sinceMs: number | undefined; isTold: boolean } | undefined;
  /** Its error report, until that is confirmed. */
  reporting?: Reporting | undefined;
}

export interface Reporting extends Pick<ErrorReport, "reason" | "detail"> {
  /** Ends the wait for the confirm. What is on the wire may arrive all the same. */
  readonly waiting: AbortController;
}

export type AcceptedStart = {
  readonly isAdmitted?: boolean;
  readonly hasCheckpoint?: boolean;
  readonly start: StartObserver;
  readonly delivery: Delivery;
  /** The message's trace context, if runs are traced. */
  readonly traceContext?: TraceContext | undefined;
};

export function newLiveRun(accepted: AcceptedStart, log: Log): LiveRun {
  return new FreshRun(accepted, log);
}

class FreshRun implements LiveRun {
  start: StartObserver;
  readonly runId = newRunId();
  readonly delivery: Delivery;
  readonly isAdmitted: boolean;
  readonly hasCheckpoint: boolean;
  state: RunState = NEW_RUN;
  announced = false;
  admission?: Admission;
  hasBegun = false;
  #log: Log;
  #hasOwnLog = false;

  constructor({ start, delivery, isAdmitted = false, hasCheckpoint = false }: AcceptedStart, log: Log) {
    this.start = start;
    this.delivery = delivery;
    this.isAdmitted = isAdmitted;
    this.hasCheckpoint = hasCheckpoint;
    this.#log = log;
  }

  get fencingToken(): number | undefined {
    return this.admission?.fencingToken;
  }

  get checkpoint(): string | undefined {
    return newestOf(this)?.value;
  }

  /** Created when it is first written to: it costs as much memory as the rest of an idle run's bookkeeping. */
  get log(): Log {
    if (!this.#hasOwnLog) {
      const { name: observer, type, observerId } = this.start;
      this.#log = this.#log.child({ observer, type, observerId, runId: this.runId });
      this.#hasOwnLog = true;
    }
    return this.#log;
  }
}

/** Whether it still asks: its type does, and its handler has never begun. */
export const isAsking = ({ isAdmitted, hasBegun }: LiveRun): boolean => isAdmitted && !hasBegun;

/** Takes an admission. A newer one replaces it until the handler begins. @returns whether it was new */
export function admit(run: LiveRun, admission: Admission, spec: AdmittedSpec): boolean {
  if (run.hasBegun || (run.admission !== undefined && run.admission.fencingToken >= admission.fencingToken)) return false;
  run.admission = admission;
  run.start = { ...run.start, ...spec };
  return true;
}

/** What it has saved last, or else what it was given. */
export const newestOf = ({ saved, admission }: LiveRun): Checkpoint | undefined => saved ?? admission?.checkpoint;

/** What is reported about an admitted run beside its identity. */
export function standingOf(run: LiveRun): { fencingToken?: number; checkpointNumber?: number } {
  if (run.fencingToken === undefined) return {};
  return { fencingToken: run.fencingToken, ...(run.hasCheckpoint && { checkpointNumber: newestOf(run)?.number ?? 0 }) };
}

/**
 * What a manager that has lost its observer needs beside its start: the checkpoint of its next run, and the token that has
 * to be exceeded.
 */
export function placeOf(run: LiveRun): Pick<ReportedStart, "fencingToken" | "checkpoint"> {
  return { fencingToken: run.fencingToken, checkpoint: newestOf(run) };
}

/** Whether the observer's own code runs, or may run, for this run. */
export function hasHandler({ state }: LiveRun): boolean {
  return state.phase === "running" || (state.phase === "stopping" && state.handler);
}

/** For how long its handler has been silent, if it is. */
export function quietForMs({ silence }: LiveRun): number | undefined {
  return silence?.sinceMs === undefined ? undefined : Math.round(performance.now() - silence.sinceMs);
}

/** The `attempt` in an event or an inventory: the one that runs, or the one that it waits for. */
export function attemptOf({ state }: LiveRun): number {
  switch (state.phase) {
    case "waiting":
    case "requested":
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
