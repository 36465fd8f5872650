import type { SendId, TaskId } from "@unacked/contracts";
import type { TaskRun } from "./task-run.ts";

/** The attempts that are here, by task: the first runs, or waits for a worker; others, of another send, wait for it. */
export class TaskRuns {
  readonly #runs = new Map<TaskId, TaskRun[]>();
  #watchers: (() => void)[] = [];

  get size(): number {
    let size = 0;
    for (const runs of this.#runs.values()) size += runs.length;
    return size;
  }

  of(taskId: TaskId): readonly TaskRun[] {
    return this.#runs.get(taskId) ?? [];
  }

  /** There is more than one if its message came again while the handler that lost the lease still stops. */
  ofSend(taskId: TaskId, sendId: SendId): TaskRun[] {
    return this.of(taskId).filter(({ task }) => task.sendId === sendId);
  }

  /** A copy of all runs. */
  all(): TaskRun[] {
    return [...this.#runs.values()].flat();
  }

  /** The runs of this or an earlier generation whose handler still runs. */
  unsettled(generation: number): TaskRun[] {
    return this.all().filter((run) => run.isRunning && run.message.generation <= generation);
  }

  put(run: TaskRun): void {
    this.#runs.set(run.task.taskId, [...this.of(run.task.taskId), run]);
  }

  replace(run: TaskRun, next: TaskRun): void {
    const runs = this.of(run.task.taskId).map((one) => (one === run ? next : one));
    this.#runs.set(run.task.taskId, runs);
  }

  /** @returns the one whose turn has come by that */
  remove(run: TaskRun): TaskRun | undefined {
    const { taskId } = run.task;
    const known = this.of(taskId);
    const rest = known.filter((one) => one !== run);
    if (rest.length === 0) this.#runs.delete(taskId);
    else this.#runs.set(taskId, rest);
    return known[0] === run ? rest[0] : undefined;
  }

  /** Resolves when `holds` is true. It is asked again after each `look`. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (holds()) resolve();
        else this.#watchers.push(look);
      };
      look();
    });
  }

  look(): void {
    if (this.#watchers.length > 0) for (const look of this.#watchers.splice(0)) look();
  }
}
