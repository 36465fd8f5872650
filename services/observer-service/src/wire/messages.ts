import type { BrokenFile, ErrorText, LogLevel, ObserverTypeInfo, TaskInput, TaskTypeInfo } from "@unacked/contracts";
import type { Isolation, Permissions, Silence, TaskDefinition } from "@unacked/sdk";
import type { TraceContext } from "@unacked/tracing";
import type { BatchMember, MemberResult, RunUpdate, TaskWord, UpdateWord } from "./attempt.ts";
import type { Late } from "./late.ts";
import type { StopCause } from "./stop-cause.ts";

/** The descriptors of a slot beyond stdin, stdout and stderr, which stay the author's. */
export const WIRE_FD = 3;
/** Only the keeper holds its other end, so it ends with the keeper. A thread that no handler can block watches it. */
export const LIFELINE_FD = 4;

/** How often a slot tells how late its event loop is. */
export const LAG_TELL_MS = 2_000;

/** What a handler is started with. A slot learns nothing else about an observer. */
export interface Begin {
  kind: "begin";
  /** Identifies this start of a handler on this pipe. */
  attempt: number;
  runId: string;
  observerId: string;
  name: string;
  type: string;
  labels: Readonly<Record<string, string>>;
  params: unknown;
  /** Replaces its type's limits. */
  silence?: Silence | null | undefined;
  /** Only for a run that was admitted. */
  fencingToken?: number | undefined;
  /** Only for a run whose type saves: the checkpoint that it starts with, as JSON. */
  checkpoint?: string | undefined;
  /** Only for a task: the number of this attempt. */
  taskAttempt?: number | undefined;
  /** Only for a task of a flow: the results of those that it comes after. */
  inputs?: readonly TaskInput[] | undefined;
  /** Only for a batch: its tasks. */
  members?: readonly BatchMember[] | undefined;
  /**
   * Runs of one line go one after the other, in the order in which they come. The line is named by the attempt of its first run, which has
   * none itself.
   */
  line?: number | undefined;
  /** The span of its start, to which all that the handler does belongs; only if runs are traced. */
  traceContext?: TraceContext | undefined;
}

/** A file that has ended slots which loaded it. No slot loads it while its code is unchanged. */
export interface DeadlyFile {
  readonly file: string;
  /** The print of its code. */
  readonly print: string;
  /** What it does, in words for its author. */
  readonly problem: string;
}

/** The settings of a slot, all known before its first handler. */
export interface Load {
  kind: "load";
  dir: string;
  /** Files in it that have ended slots which loaded them. */
  without: readonly DeadlyFile[];
  /** Files that are loaded before all others, which are not to blame for what happens to the slot meanwhile. */
  first: readonly string[];
  permissions: Permissions;
  stopTimeoutMs: number;
  /** The least pause between two checkpoints of one run. */
  saveEveryMs: number;
  logLevel: string;
  /** 0 means that a blocked event loop is not looked for. */
  stuckMs: number;
  /** The service of the slot, for the traces of its handlers. */
  service: { serviceId: string; serviceName: string; pool: string; version: string };
}

/** Keeper → slot. Trusted: the slot has no other parent. */
export type ToSlot =
  | Load
  | Begin
  | { kind: "abort"; attempt: number; cause: StopCause }
  /** If it still waits in its line it does not begin. */
  | { kind: "recall"; attempt: number }
  /** Its new spec. If that has other params, it is answered by `updated`. */
  | ({ kind: "update"; attempt: number } & RunUpdate)
  /** Ends one task of a batch; the others go on. */
  | { kind: "abort-member"; attempt: number; taskId: string; cause: StopCause }
  /** The answer to an emit: confirmed, or why not. */
  | { kind: "emitted"; attempt: number; emit: number; error?: { name: string; message: string; code?: string } }
  /** The answer to a save: confirmed, or why not. */
  | { kind: "saved"; attempt: number; save: number; error?: { name: string; message: string; code?: string } }
  /** So many lines of log have been written, and as many more may come. */
  | { kind: "logged"; lines: number }
  /** Collect garbage: memory is short, and it may look fuller than it is. */
  | { kind: "collect" }
  /** Whether silence is not counted now, as the broker takes nothing. */
  | { kind: "hold-silence"; isHeld: boolean }
  /** Nothing more comes: send the traces, and end. */
  | { kind: "end"; limitMs: number };

/** The contents of the folder of observers. */
export interface Catalogue {
  readonly types: readonly ObserverTypeInfo[];
  /** Types whose params have no JSON Schema, and why. */
  readonly unannounced: readonly { type: string; reason: string }[];
  /** For types that were defined with some: fields that mean nothing. */
  readonly unknownFields: readonly { type: string; fields: string[] }[];
  /** Files whose type does not exist under these permissions, or whose ending is not loaded: which and why. */
  readonly notOffered: readonly { file: string; problem: string }[];
  /** Broken files. Only their own types are missing. */
  readonly broken: readonly BrokenFile[];
  /** The types of tasks. */
  readonly tasks: readonly TaskTypeEntry[];
}

/** A task type: what is announced of it, and what the keeper needs. */
export interface TaskTypeEntry extends TaskTypeInfo, Pick<TaskDefinition, "retry" | "timeoutMs"> {}

/** The catalogue together with the types' wishes for slots of their own. */
export interface LoadedFolder extends Catalogue {
  readonly isolation: readonly ({ type: string } & Isolation)[];
  /** Each type's file, and the print of its code: different prints mean different code. */
  readonly code: readonly { type: string; file: string; print: string }[];
}

/** Slot → keeper. The keeper decodes it (keeper/slots/process/slot-messages.ts): handlers share the process that sends it. */
export type FromSlot =
  | ({ kind: "loaded" } & LoadedFolder)
  | { kind: "not-loaded"; problem: string }
  /** From now on this file is to blame for what happens to this process. Without a file it is not known which. */
  | { kind: "loading"; file?: Omit<DeadlyFile, "problem"> | undefined }
  | { kind: "bad-params"; attempt: number; error: ErrorText }
  /** It has waited in its line, and was aborted or recalled there. */
  | { kind: "not-begun"; attempt: number }
  /** Its slot alone has told it to end, as that has found the lease over; the keeper may still hold it. Comes before `settled`. */
  | { kind: "fenced"; attempt: number }
  | ({
      kind: "settled";
      attempt: number;
      outcome: "completed" | "stopped" | "failed";
      error?: ErrorText | undefined;
    } & Omit<TaskWord, "members">)
  /** The results of tasks of a batch. Comes before `settled`. */
  | { kind: "results"; attempt: number; results: readonly MemberResult[] }
  /** For the run's last lines: what was thrown, and what it led to. */
  | { kind: "thrown"; attempt: number; what: string; error: ErrorText }
  /** An uncaught error came out of the running handler, which may not end. `isFinal`: a retry would not help. */
  | { kind: "uncaught"; attempt: number; error: ErrorText; isFinal?: boolean | undefined }
  /** How long it has had no beat. Without that it is heard again. */
  | { kind: "silence"; attempt: number; quietForMs?: number | undefined }
  /** How it takes the params of its update. */
  | ({ kind: "updated"; attempt: number } & UpdateWord)
  | { kind: "emit"; attempt: number; emit: number; json: string }
  | { kind: "save"; attempt: number; save: number; json: string }
  | {
      kind: "log";
      attempt: number;
      level: LogLevel;
      message: string;
      /** Whether the handler wrote it, with its fields; else its host wrote it, about the handler. */
      isHandlers: boolean;
      fields?: Record<string, unknown> | undefined;
    }
  /** How many lines of this attempt were not sent, as too many waited. */
  | { kind: "lines-dropped"; attempt: number; lines: number }
  /** The worst lateness of its event loop since the last report, and its memory, if there is no /proc to look it up. */
  | { kind: "lag"; lagMs: number; memoryBytes?: number | undefined }
  /** Uncaught errors, with their number, from what a file of observers does by itself: a timer of its top level. */
  | { kind: "file-error"; file: string; error: ErrorText; times: number }
  /** What a handler does after its end, when its attempt no longer exists. */
  | ({ kind: "late" } & Late)
  /** An error that belongs to no handler and no file. Next the slot ends itself. */
  | { kind: "unattributed"; error: ErrorText };

/** Keeper → watchdog, on the lifeline: until when the lease holds, by the clock that all processes of a host share. */
export interface LeaseWord {
  /** `process.hrtime.bigint()` as text. Null means that nothing runs that would need a lease. */
  deadlineNs: string | null;
  /** How long handlers may go on after the deadline before the slot is ended. */
  graceMs: number;
}

/** Watchdog → keeper, on the lifeline: a sign of life every second, and the news that the main thread does not turn. */
export type WatchdogWord = { kind: "alive" } | Stuck;

/** How much of a stack a watchdog sends, as authors may have made theirs unbounded. */
export const MAX_TOLD_STACK = 65_536;

export interface Stuck {
  kind: "stuck";
  forMs: number;
  /** The run of the handler that ran when the main thread was asked. Absent if it did not answer. */
  runId?: string | undefined;
  /** The file of observers that does it by itself, if it is one. */
  file?: string | undefined;
  /**
   * Whether a run has begun in this process, by its own account: it has not read what was sent to it while it stood still.
   */
  isUsed?: boolean | undefined;
  stack?: string | undefined;
}
