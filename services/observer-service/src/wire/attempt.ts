import type { Checkpoint, ErrorText, RunId, StartObserver, TaskEnded, TaskInput } from "@unacked/contracts";
import type { LogLevel, RunOutcome, UpdateOutcome } from "@unacked/sdk";
import type { Span, TraceContext, TraceIds } from "@unacked/tracing";
import type { Log } from "../log.ts";
import type { StopCause } from "./stop-cause.ts";

/** The contract between a keeper and what runs handlers for it, here or in a slot. */

/** The permission of a run to start, and what it starts with. */
export interface Admission {
  readonly fencingToken: number;
  /** How many successors the keeper has admitted by itself since a manager admitted one. */
  readonly ownTokens: number;
  /** The checkpoint that it starts with. */
  readonly checkpoint?: Checkpoint | undefined;
}

/** The run that an attempt belongs to. */
export interface AttemptedRun {
  readonly start: Pick<StartObserver, "observerId" | "name" | "type" | "labels" | "silence">;
  readonly runId: RunId;
  /** For a run whose type asks before it starts. */
  readonly fencingToken?: number | undefined;
  /** The checkpoint that it starts with, as JSON, if its type saves. */
  readonly checkpoint?: string | undefined;
  /** Its lines name the observer and the run already. */
  readonly log: Pick<Log, LogLevel | "isLevelEnabled">;
  readonly trace?: RunTrace;
}

/** How a handler belongs to its run's trace. */
export interface AttemptTracing<Run> {
  within<Result>(run: Run, act: () => Result): Result;
  /** The ids for a line of the handler. */
  idsInside(run: Run): TraceIds | undefined;
}

/** Takes a handler's log, to answer those who ask for its run's last lines. */
export interface AttemptTail {
  /** @param fields a text: they were too long, and were cut */
  line(level: LogLevel, message: string, fields: object | string | undefined): void;
  /** @param json already written as JSON */
  value(json: string): void;
  /** Adds why an attempt failed, as the handler itself need not have logged anything. */
  thrown(what: string, error: ErrorText): void;
  /** So many lines were dropped on their way from its slot. */
  dropped?(lines: number): void;
}

/** What the end of a task's handler says beside its outcome. */
export interface TaskWord {
  /** For a completed task: its output as JSON. */
  readonly output?: string | undefined;
  /** Whether a retry would not help. */
  readonly isFinal?: boolean | undefined;
  /** The task has not completed, but goes on later. */
  readonly postponement?: TaskEnded["postponement"];
  /** Whether its emergency handler ran. */
  readonly isEmergency?: boolean | undefined;
  /** For a completed task: the tasks that it creates, each as JSON. */
  readonly creations?: string[] | undefined;
  /** For a batch: the results of its tasks. */
  readonly members?: ReadonlyMap<string, MemberWord> | undefined;
}

/** A task of a batch, as its handler gets it. */
export interface BatchMember {
  readonly taskId: string;
  readonly params: unknown;
  readonly attempt: number;
  /** For a task of a flow: the results of those that it comes after. */
  readonly inputs?: readonly TaskInput[] | undefined;
}

/** The outcome of a task of a batch: its result as JSON, or why it failed. */
export interface MemberWord {
  readonly output?: string | undefined;
  readonly error?: ErrorText | undefined;
  readonly isFinal?: boolean | undefined;
}

export interface MemberResult extends MemberWord {
  readonly taskId: string;
}

/** What all attempts of a service share, as there are many thousands of them. */
export interface AttemptHost<Run extends AttemptedRun> {
  /** Publishes an emitted value, written as JSON. Resolves when it is confirmed. */
  publish(run: Run, eventJson: string, wanted?: AbortSignal): Promise<void>;
  readonly stopTimeoutMs: number;
  /** Only for observers. */
  readonly saving?: {
    /** Saves how far the run has got, written as JSON. Resolves when that is confirmed, under a held lease. */
    save(run: Run, json: string): Promise<void>;
    /** The least pause between two saves of one run; milliseconds. */
    readonly everyMs: number;
  };
  /** Undefined means that nothing is traced. */
  readonly tracing: AttemptTracing<Run> | undefined;
  /** The run's last lines; called only when the handler says something. */
  tailOf(run: Run): AttemptTail;
  /** The handler is over. Called exactly once. */
  onSettled(run: Run, outcome: RunOutcome, ofTask?: TaskWord): void;
  /** An error that nobody caught came out of the running handler. @param isFinal as a slot has found it: to try again would not help */
  onUncaught(run: Run, error: unknown, isFinal?: boolean): void;
  /**
   * The handler goes on after its end: it has thrown an error that nobody caught or, reported once, it logs, emits or saves. Absent means
   * that the attempt itself logs that.
   */
  onLate?(run: Run, thrown?: { readonly error: unknown }): void;
  /** How long it has had no beat, if that is longer than its `warnAfterMs`. Undefined means that it is heard again. */
  onSilence?(run: Run, quietForMs: number | undefined): void;
  /** How it takes the params of an update. */
  onUpdated?(run: Run, word: UpdateWord): void;
  /** It was told to end `stopTimeoutMs` ago and has not settled. */
  onStuck(run: Run): void;
}

/** A new spec for a handler that runs. */
export interface RunUpdate {
  readonly specVersion: number;
  readonly silence: StartObserver["silence"];
  /** New params, if they differ from its own. */
  readonly params?: { readonly value: unknown } | undefined;
}

/** How a handler takes the params of an update. */
export interface UpdateWord extends UpdateOutcome {
  readonly specVersion: number;
}

/** One start of a handler. The handler's own code is only ever entered through here. */
export interface Attempt {
  /** The first call aborts the handler's signal. A later one with a lost lease ends the handler's emits. */
  abort(cause: StopCause): void;
  /** Updates an observer. If there are new params, the host is told how it takes them (`onUpdated`). */
  update?(word: RunUpdate): void;
  /** For an attempt that was put behind another: if it still waits, it does not begin. */
  recall?(): void;
  /** For a batch: aborts the signal of this task, and of no other. */
  abortMember?(taskId: string, cause: StopCause): void;
}

/** The trace of a run, if it is traced. */
export interface RunTrace {
  /** The place in a trace that the message, or the order to start over, comes from. */
  cause: TraceContext | undefined;
  /** The span of the start of the handler that runs, or ran last. */
  start?: Span;
  /** The next report to the manager follows from this. */
  telling?: TraceContext | undefined;
}

/** The trace's ids for a line about a run. */
export const traceIdsOf = ({ trace }: { readonly trace?: RunTrace }): TraceIds | undefined => trace?.start?.ids;
