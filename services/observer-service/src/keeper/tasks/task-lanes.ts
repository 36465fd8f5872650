import type { TaskTypeEntry } from "../../wire/messages.ts";
import type { HandlerHost, Handlers } from "../runs/handlers.ts";
import { TaskLane } from "./task-lane.ts";
import type { TaskRun } from "./task-run.ts";

export interface TaskLanesParts {
  readonly handlers: Handlers;
  readonly types: ReadonlyMap<string, TaskTypeEntry>;
  readonly holds: (generation: number) => boolean;
  /** The host of each run. */
  readonly host: HandlerHost<TaskRun>;
  readonly begin: (run: TaskRun) => void;
  /** The run has begun, as the one before it has settled. */
  readonly begun: (run: TaskRun) => void;
}

/** Runs that wait for others of their message, or others for them. */
export class TaskLanes {
  readonly #parts: TaskLanesParts;
  readonly #lanes = new Map<TaskRun, TaskLane>();

  constructor(parts: TaskLanesParts) {
    this.#parts = parts;
  }

  of(run: TaskRun): TaskLane | undefined {
    return this.#lanes.get(run);
  }

  /** Makes a lane of these, which run in this order. */
  make(runs: readonly TaskRun[]): TaskLane {
    const { begin, begun } = this.#parts;
    const lane = new TaskLane(runs, { begin, beginBehind: (run, other) => this.#beginBehind(run, other), begun });
    for (const run of runs) this.#lanes.set(run, lane);
    return lane;
  }

  /** The same task begins again. @returns whether it belongs to a lane, which begins it */
  replace(run: TaskRun, next: TaskRun): boolean {
    const lane = this.#lanes.get(run);
    if (lane === undefined) return false;
    this.#lanes.delete(run);
    this.#lanes.set(next, lane);
    lane.replace(run, next);
    return true;
  }

  /** The run was put behind another, and has not begun there. */
  notBegun(run: TaskRun): void {
    this.#lanes.get(run)?.notBegun(run);
  }

  /** The run has ended. @returns whether it was the last of its lane */
  leave(run: TaskRun, lane: TaskLane): boolean {
    this.#lanes.delete(run);
    this.#parts.handlers.forget(run);
    return lane.leave(run);
  }

  /** Puts it behind the other, if its handler can begin in the slot without waiting for news of the other's end. */
  #beginBehind(run: TaskRun, { attempt: other }: TaskRun): boolean {
    const { handlers, types, holds, host } = this.#parts;
    const { type, alone = false } = run.task;
    if (other === undefined || alone || !types.has(type) || !holds(run.message.generation)) return false;
    const attempt = handlers.startBehind(host, run, other);
    if (attempt === undefined) return false;
    run.attempt = attempt;
    run.isRunning = true; // it begins at any moment, which is heard of later
    return true;
  }
}
