import type { Checkpoint, ErrorText, RunId, StartObserver, TaskEnded, TaskInput } from "@unacked/contracts";
import type { LogLevel, RunOutcome, UpdateOutcome } from "@unacked/sdk";
import type { Span, TraceContext, TraceIds } from "@unacked/tracing";
import type { Log } from "../log.ts";
import type { StopCause } from "./stop-cause.ts";

/** What a keeper and whatever runs handlers for it, here or in a slot, have agreed upon. */

/** That a run may start, and with what. */
export interface Admission {
  readonly epoch: number;
  /** So many successors has the keeper admitted by itself since a manager did. */
  readonly ownEpochs: number;
  /** What it starts with. */
  readonly checkpoint?: Checkpoint | undefined;
}

/** The run that an attempt is one of. */
export interface AttemptedRun {
  readonly start: Pick<StartObserver, "observerId" | "name" | "type" | "labels" | "silence">;
  readonly runId: RunId;
  /** Of a run whose type asks before it starts. */
  readonly epoch?: number | undefined;
  /** What it starts with, as JSON, where its type saves that. */
  readonly checkpoint?: string | undefined;
  /** Carries the observer and the run already. */
  readonly log: Pick<Log, LogLevel | "isLevelEnabled">;
  readonly trace?: RunTrace;
}

/** How a handler is part of its run's trace. */
export interface AttemptTracing<Run> {
  within<Result>(run: Run, act: () => Result): Result;
  /** For a line that the handler writes. */
  idsInside(run: Run): TraceIds | undefined;
}

/** Takes what a handler says, to be given to those who ask what its run has said last. */
export interface AttemptTail {
  /** @param fields a text: they were too long, and were cut */
  line(level: LogLevel, message: string, fields: object | string | undefined): void;
  /** @param json already written as JSON */
  value(json: string): void;
  /** Why an attempt failed, where the handler itself need not have said anything. */
  thrown(what: string, error: ErrorText): void;
}

/** What the end of a task's handler says beside its outcome. */
export interface TaskWord {
  /** Of what completed: JSON. */
  readonly output?: string | undefined;
  /** To try again would not help. */
  readonly isFinal?: boolean | undefined;
  /** It has not completed: it goes on later. */
  readonly postponement?: TaskEnded["postponement"];
  /** Its emergency handler ran. */
  readonly isEmergency?: boolean | undefined;
  /** Of what completed: the tasks that it creates, each as JSON. */
  readonly creations?: string[] | undefined;
  /** Of a batch: what was told of its tasks. */
  readonly members?: ReadonlyMap<string, MemberWord> | undefined;
}

/** A task of a batch, as its handler is started with it. */
export interface BatchMember {
  readonly taskId: string;
  readonly params: unknown;
  readonly attempt: number;
  /** Of a flow: what it comes after. */
  readonly inputs?: readonly TaskInput[] | undefined;
}

/** What became of a task of a batch: its result as JSON, or why it failed. */
export interface MemberWord {
  readonly output?: string | undefined;
  readonly error?: ErrorText | undefined;
  readonly isFinal?: boolean | undefined;
}

export interface MemberResult extends MemberWord {
  readonly taskId: string;
}

/** What all attempts of a service share: there are many thousands of them, and each asks here. */
export interface AttemptHost<Run extends AttemptedRun> {
  /** Publishes what the handler emitted, written as JSON; resolves when it is confirmed. */
  publish(run: Run, eventJson: string, wanted?: AbortSignal): Promise<void>;
  readonly stopTimeoutMs: number;
  /** Of observers alone. */
  readonly saving?: {
    /** Saves where the run has got to, written as JSON; resolves when that is confirmed, under a held lease. */
    save(run: Run, json: string): Promise<void>;
    /** Between two of one run; milliseconds. */
    readonly everyMs: number;
  };
  /** Undefined: nothing is traced. */
  readonly tracing: AttemptTracing<Run> | undefined;
  /** Keeps what the handler says; asked for when it says something. */
  tailOf(run: Run): AttemptTail;
  /** The handler is over; called exactly once. */
  onSettled(run: Run, outcome: RunOutcome, ofTask?: TaskWord): void;
  /** An error that nobody caught came out of the running handler. @param isFinal as a slot has found it: to try again would not help */
  onUncaught(run: Run, error: unknown, isFinal?: boolean): void;
  /** It goes on after its end: with what nobody caught, or, told once, by what it logs, emits or saves. Absent: that is logged by the attempt itself. */
  onLate?(run: Run, thrown?: { readonly error: unknown }): void;
  /** It has had no beat for so long, longer than its `warnAfterMs`; undefined: it is heard again. */
  onSilence?(run: Run, quietForMs: number | undefined): void;
  /** How it takes the params that it was told. */
  onUpdated?(run: Run, word: UpdateWord): void;
  /** It was told to end `stopTimeoutMs` ago and has not settled. */
  onStuck(run: Run): void;
}

/** What is wanted of a handler that runs. */
export interface RunUpdate {
  readonly specVersion: number;
  readonly silence: StartObserver["silence"];
  /** Others than it has. */
  readonly params?: { readonly value: unknown } | undefined;
}

/** How a handler takes the params of an update. */
export interface UpdateWord extends UpdateOutcome {
  readonly specVersion: number;
}

/** One start of a handler. The handler's own code is only ever entered through here. */
export interface Attempt {
  /** The first call aborts the handler's signal. A later one that says that the lease is lost ends the handler's emits. */
  abort(cause: StopCause): void;
  /** What is wanted of it by now, of an observer; where params are among it, the host is told how it takes them (`onUpdated`). */
  update?(word: RunUpdate): void;
  /** Only of one that was put behind another: if it waits there it is not to begin. */
  recall?(): void;
  /** Only of a batch: aborts the signal of this one, and of no other. */
  abortMember?(taskId: string, cause: StopCause): void;
}

/** What a traced run has of its trace. */
export interface RunTrace {
  /** Where the message, or the order to start over, comes from. */
  cause: TraceContext | undefined;
  /** The start of the handler that runs, or ran last. */
  start?: Span;
  /** What the manager is told next follows from this. */
  telling?: TraceContext | undefined;
}

/** For a line about a run. */
export const traceIdsOf = ({ trace }: { readonly trace?: RunTrace }): TraceIds | undefined => trace?.start?.ids;
