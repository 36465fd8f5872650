import type { CreateTask, TaskId } from "@unacked/contracts";
import type { TaskDefinition } from "../../domain/schedules/definition.ts";
import { dueTimes } from "../../domain/schedules/due.ts";
import { decideOverlap } from "../../domain/schedules/overlap.ts";
import { ownTaskId } from "../../domain/schedules/own-task-id.ts";
import { jitterOf } from "../../domain/schedules/times.ts";
import { withId } from "../tasks/creations/new-ids.ts";
import type { NewTask } from "../tasks/creations/new-task.ts";
import type { Lane, NewOccurrence, ScheduleDecision, TaskScheduleState } from "./schedule-store.ts";

/** What is wrong with its expression may be mended by another version of Node. */
const PROBLEM_AGAIN_MS = 60_000;

/** What becomes of a schedule that is due. */
export function decideDue(state: TaskScheduleState, nowMs: number): ScheduleDecision {
  try {
    return decided(state, nowMs);
  } catch (error) {
    const plan = { nextMs: state.nextMs, dueMs: nowMs + PROBLEM_AGAIN_MS, lastMs: null };
    const problem = String((error as Error).message).slice(0, 500);
    return { id: state.id, version: state.version, occurrences: [], cancel: [], plan, missed: 0, problem };
  }
}

function decided(state: TaskScheduleState, nowMs: number): ScheduleDecision {
  const { id, definition, version, underWay } = state;
  const { timing, keep, overlap } = definition;
  const { due, missed, earlierMissed, nextMs: next } = dueTimes(definition, { ...state, nowMs, keep });
  const { occurrences, cancel } = started(state, { ...underWay.regular, overlap }, due);
  const all = missed.map((one): NewOccurrence => ({ ...one, status: "missed", cause: "time" }));
  if (earlierMissed > 0 && all[0] !== undefined) all[0].earlierMissed = earlierMissed;
  const last = [...missed, ...due].map(({ atMs }) => atMs);
  return {
    id,
    version,
    occurrences: [...all, ...occurrences],
    cancel,
    plan: { ...planFrom(id, timing.jitterMs, next), lastMs: last.length === 0 ? null : Math.max(...last) },
    missed: missed.length + earlierMissed,
    problem: null,
  };
}

/** What its tasks are made of. */
export type TaskSource = Pick<TaskScheduleState, "id" | "createdMs" | "definition">;

/** @param times in order. @returns what becomes of each, and which tasks they take the place of */
export function started(
  source: TaskSource,
  { running, queued, overlap }: Lane & { overlap: TaskDefinition["overlap"] },
  times: readonly Pick<NewOccurrence, "cause" | "atMs" | "lateMs" | "by" | "request">[],
): { occurrences: NewOccurrence[]; cancel: TaskId[] } {
  const onTime = times.findIndex(({ cause }) => cause === "time");
  const decisions = decideOverlap(overlap, { running: running.length, queued }, times.length, Math.max(0, onTime));
  const occurrences = times.map((time, place): NewOccurrence => {
    const decision = decisions[place];
    switch (decision?.kind) {
      case "start":
      case "start-instead":
        return {
          ...time,
          status: "started",
          task: taskOf(source, time),
          isOpen: overlap !== "allow",
          mayWait: overlap === "queue",
        };
      case "queue":
        return { ...time, status: "queued" };
      case "skip":
        return { ...time, status: "skipped", reason: decision.reason };
      default:
        throw new Error("nothing was decided about an occurrence");
    }
  });
  return { occurrences, cancel: decisions.some(({ kind }) => kind === "start-instead") ? running : [] };
}

/** What somebody asks for is a wish of its own each time, and so has a new id. */
export function taskOf(source: TaskSource, { cause, atMs }: Pick<NewOccurrence, "cause" | "atMs">): NewTask {
  const task = taskAt(source.definition, atMs);
  return withId(cause === "time" || cause === "catch-up" ? { ...task, id: ownTaskId(source, atMs) } : task);
}

export function taskAt({ task }: TaskDefinition, atMs: number): CreateTask {
  const { timeParam, params, ...rest } = task;
  const at = timeParam === undefined ? {} : { [timeParam]: new Date(atMs).toISOString() };
  const own = timeParam === undefined ? params : { ...(params as object), ...at };
  return { ...rest, params: own };
}

export const planFrom = (
  id: string,
  jitterMs: number,
  nextMs: number | undefined,
): { nextMs: number | null; dueMs: number | null } =>
  nextMs === undefined ? { nextMs: null, dueMs: null } : { nextMs, dueMs: nextMs + jitterOf(id, nextMs, jitterMs) };
