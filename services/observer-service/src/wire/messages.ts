import type { BrokenFile, ErrorText, LogLevel, ObserverTypeInfo, TaskInput, TaskTypeInfo } from "@unacked/contracts";
import type { Isolation, Permissions, Silence, TaskDefinition } from "@unacked/sdk";
import type { TraceContext } from "@unacked/tracing";
import type { BatchMember, MemberResult, RunUpdate, TaskWord, UpdateWord } from "./attempt.ts";
import type { Late } from "./late.ts";
import type { StopCause } from "./stop-cause.ts";

/** The descriptors of a slot beyond stdin, stdout and stderr, which stay the author's. */
export const WIRE_FD = 3;
/** Its other end is held by the keeper alone: its end is the keeper's. Watched by a thread that no handler can block. */
export const LIFELINE_FD = 4;

/** How often a slot tells how late its event loop is. */
export const LAG_TELL_MS = 2_000;

/** What a handler is started with; all that a slot ever learns of an observer. */
export interface Begin {
  kind: "begin";
  /** Names this start of a handler on this pipe. */
  attempt: number;
  runId: string;
  observerId: string;
  name: string;
  type: string;
  labels: Readonly<Record<string, string>>;
  params: unknown;
  /** Instead of its type's. */
  silence?: Silence | null | undefined;
  /** Only of a run that was admitted. */
  epoch?: number | undefined;
  /** Only of one whose type saves: what it starts with, as JSON. */
  checkpoint?: string | undefined;
  /** Only of a task: how often it has been tried, this time included. */
  taskAttempt?: number | undefined;
  /** Only of a task of a flow: what it comes after. */
  inputs?: readonly TaskInput[] | undefined;
  /** Only of a batch: its tasks. */
  members?: readonly BatchMember[] | undefined;
  /** Those of one line run one after the other, in the order in which they come. The attempt of the first names it, which itself has none. */
  line?: number | undefined;
  /** The span of its start, of which all that the handler does is a part; only where runs are traced. */
  traceContext?: TraceContext | undefined;
}

/** A file that has ended slots which loaded it: none loads it any more, as long as its code is that. */
export interface DeadlyFile {
  readonly file: string;
  /** Of its code. */
  readonly print: string;
  /** What it does, for its author. */
  readonly problem: string;
}

/** What a slot is: all of it is known before its first handler. */
export interface Load {
  kind: "load";
  dir: string;
  /** Files in it that have ended slots which loaded them. */
  without: readonly DeadlyFile[];
  /** Files that are loaded before all others: what becomes of the slot meanwhile is not the others' doing. */
  first: readonly string[];
  permissions: Permissions;
  stopTimeoutMs: number;
  /** Between two checkpoints of one run. */
  saveEveryMs: number;
  logLevel: string;
  /** 0: a blocked event loop is not looked for. */
  stuckMs: number;
  /** Whose slot it is, for the traces of its handlers. */
  service: { serviceId: string; serviceName: string; pool: string; version: string };
}

/** Keeper → slot. Trusted: the slot has no other parent. */
export type ToSlot =
  | Load
  | Begin
  | { kind: "abort"; attempt: number; cause: StopCause }
  /** If it still waits in its line it is not to begin. */
  | { kind: "recall"; attempt: number }
  /** What is wanted of it by now; where that is other params, it is answered by `updated`. */
  | ({ kind: "update"; attempt: number } & RunUpdate)
  /** One task of a batch is to end; the others go on. */
  | { kind: "abort-member"; attempt: number; taskId: string; cause: StopCause }
  /** The answer to an emit: confirmed, or why not. */
  | { kind: "emitted"; attempt: number; emit: number; error?: { name: string; message: string; code?: string } }
  /** The answer to a save: confirmed, or why not. */
  | { kind: "saved"; attempt: number; save: number; error?: { name: string; message: string; code?: string } }
  /** So many lines of log have been written, and as many more may come. */
  | { kind: "logged"; lines: number }
  /** Let go of what nobody has any more: memory is short, and it may look fuller than it is. */
  | { kind: "collect" }
  /** Whether silence counts for nobody now: the broker takes nothing. */
  | { kind: "hold-silence"; isHeld: boolean }
  /** Nothing more comes: send what has been traced, and end. */
  | { kind: "end"; limitMs: number };

/** What the folder of observers holds. */
export interface Catalogue {
  readonly types: readonly ObserverTypeInfo[];
  /** Types whose params have no JSON Schema, and why. */
  readonly unannounced: readonly { type: string; reason: string }[];
  /** Of types that were defined with some: fields that mean nothing. */
  readonly unknownFields: readonly { type: string; fields: string[] }[];
  /** Files whose type does not exist under these permissions, or whose ending is not loaded: which and why. */
  readonly notOffered: readonly { file: string; problem: string }[];
  /** Files that cost their own types, and nothing else. */
  readonly broken: readonly BrokenFile[];
  /** Types of tasks. */
  readonly tasks: readonly TaskTypeEntry[];
}

/** A task type: what is announced of it, and what the keeper keeps to. */
export interface TaskTypeEntry extends TaskTypeInfo, Pick<TaskDefinition, "retry" | "timeoutMs"> {}

/** The same with what the types ask for, of those that ask for some. */
export interface LoadedFolder extends Catalogue {
  readonly isolation: readonly ({ type: string } & Isolation)[];
  /** Each type's file, and the print of its code: where two differ, so does the code. */
  readonly code: readonly { type: string; file: string; print: string }[];
}

/** Slot → keeper. The keeper decodes it (keeper/slots/process/slot-messages.ts): handlers share the process that sends it. */
export type FromSlot =
  | ({ kind: "loaded" } & LoadedFolder)
  | { kind: "not-loaded"; problem: string }
  /** What becomes of this process from now on is this file's doing; without one it cannot be told whose. */
  | { kind: "loading"; file?: Omit<DeadlyFile, "problem"> | undefined }
  | { kind: "bad-params"; attempt: number; error: ErrorText }
  /** It has waited in its line, and was aborted or recalled there. */
  | { kind: "not-begun"; attempt: number }
  /** It is told to end, by its slot alone: that has found the lease over, and the keeper may hold it all the same. Before `settled`. */
  | { kind: "fenced"; attempt: number }
  | ({
      kind: "settled";
      attempt: number;
      outcome: "completed" | "stopped" | "failed";
      error?: ErrorText | undefined;
    } & Omit<TaskWord, "members">)
  /** What became of tasks of a batch; before `settled`. */
  | { kind: "results"; attempt: number; results: readonly MemberResult[] }
  /** For the last lines of its run: what was thrown, and what became of it. */
  | { kind: "thrown"; attempt: number; what: string; error: ErrorText }
  /** An error that nobody caught came out of the running handler, which may not end; `isFinal`: to try again would not help. */
  | { kind: "uncaught"; attempt: number; error: ErrorText; isFinal?: boolean | undefined }
  /** It has had no beat for so long; without: it is heard again. */
  | { kind: "silence"; attempt: number; quietForMs?: number | undefined }
  /** How it takes the params that it was told. */
  | ({ kind: "updated"; attempt: number } & UpdateWord)
  | { kind: "emit"; attempt: number; emit: number; json: string }
  | { kind: "save"; attempt: number; save: number; json: string }
  | {
      kind: "log";
      attempt: number;
      level: LogLevel;
      message: string;
      /** By the handler, with its fields; else by the host of the handler, about it. */
      isHandlers: boolean;
      fields?: Record<string, unknown> | undefined;
    }
  /** Lines of this attempt that were not sent, as too many waited. */
  | { kind: "lines-dropped"; attempt: number; lines: number }
  /** By how much its event loop was late at the worst since it told last; its memory, where there is no /proc to look it up. */
  | { kind: "lag"; lagMs: number; memoryBytes?: number | undefined }
  /** Errors that nobody caught, so many, out of what a file of observers does by itself: a timer of its top level. */
  | { kind: "file-error"; file: string; error: ErrorText; times: number }
  /** What a handler does after its end, where it has an attempt no more. */
  | ({ kind: "late" } & Late)
  /** An error that belongs to no handler and no file: the slot ends itself next. */
  | { kind: "unattributed"; error: ErrorText };

/** Keeper → watchdog, on the lifeline: until when the lease holds, by the clock that all processes of a host share. */
export interface LeaseWord {
  /** `process.hrtime.bigint()` as text; null: nothing runs that a lease would have to hold for. */
  deadlineNs: string | null;
  /** What a handler has after the deadline before its slot is ended. */
  graceMs: number;
}

/** Watchdog → keeper, on the lifeline: that it is there, every second; and that the main thread does not turn. */
export type WatchdogWord = { kind: "alive" } | Stuck;

/** Of what a watchdog tells of a stack: authors may have set that theirs are as long as they get. */
export const MAX_TOLD_STACK = 65_536;

export interface Stuck {
  kind: "stuck";
  forMs: number;
  /** Of the handler that ran when the main thread was asked; absent where it did not answer. */
  runId?: string | undefined;
  /** The file of observers that does it by itself, where that is so. */
  file?: string | undefined;
  /** Whether a run has begun in this process, as it says itself: what was sent to it while it stood still it has not read. */
  isUsed?: boolean | undefined;
  stack?: string | undefined;
}
