import type { TaskTypeEntry } from "../../wire/messages.ts";
import type { StopCause } from "../../wire/stop-cause.ts";
import type { TaskBatch } from "./task-batch.ts";
import { timeIsUp } from "./task-end.ts";
import type { TaskRun } from "./task-run.ts";

/** How long tasks of a type may take, and calls for many: one that takes longer is told to end. */
export class TimeLimits {
  readonly #types: ReadonlyMap<string, TaskTypeEntry>;

  constructor(types: ReadonlyMap<string, TaskTypeEntry>) {
    this.#types = types;
  }

  /** Its time begins now: that in which it waited for a slot does not count. */
  begin<One extends TaskRun | TaskBatch>(one: One, stop: (one: One, cause: StopCause) => void): void {
    clearTimeout(one.timer);
    const timeoutMs = this.#types.get(one.start.type)?.timeoutMs;
    if (timeoutMs === undefined) return;
    one.timer = setTimeout(() => stop(one, { kind: "uncaught", error: timeIsUp(timeoutMs) }), timeoutMs);
  }
}
