import type { RunId } from "@unacked/contracts";
import type { TraceContext } from "@unacked/tracing";
import type { AttemptedRun, TaskWord } from "../wire/attempt.ts";
import type { Begin } from "../wire/messages.ts";
import type { BatchHandler } from "./batch-handler.ts";
import type { LateRun } from "./late-acts.ts";

/** A start of a handler in this slot. */
export interface SlotRun extends AttemptedRun {
  readonly attempt: number;
  readonly traceContext: TraceContext | undefined;
  /** The line, one run behind the other, that it stands in or would be the first of. */
  readonly line: number;
  readonly fencingToken: number | undefined;
  readonly checkpoint: string | undefined;
  readonly kind: "observer" | "task" | "batch";
  /** For a task: the result of its handler. */
  word?: TaskWord;
  batch?: BatchHandler;
}

export function slotRunOf(begin: Begin, log: AttemptedRun["log"]): SlotRun {
  const { attempt, runId, observerId, name, type, labels, silence } = begin;
  const { traceContext, fencingToken, checkpoint, line = attempt } = begin;
  const start = { observerId, name, type, labels, silence } as AttemptedRun["start"];
  return { attempt, start, runId: runId as RunId, log, traceContext, line, fencingToken, checkpoint, kind: kindOf(begin) };
}

function kindOf({ taskAttempt, members }: Begin): SlotRun["kind"] {
  if (taskAttempt === undefined) return "observer";
  return members === undefined ? "task" : "batch";
}

/** How it is reported when its keeper no longer knows it. */
export function asLate({ kind, runId, start: { observerId: id, name, type } }: SlotRun): LateRun {
  if (kind === "observer") return { runId, type, observer: { id, name } };
  return { runId, type, ...(kind === "task" && { task: id }) };
}
