import type { TaskRun } from "./task-run.ts";
import { PATIENCE_MS } from "./worker-line.ts";

/**
 * Tasks of one type that came together and run one after the other, with one worker: their type may run only so often at once, and the
 * whole lane counts as one of these. Guarantees: a run begins when the one before it has ended.
 */
export class TaskLane {
  readonly #runs: TaskRun[];
  readonly #begin: (run: TaskRun) => void;
  #hasWorker = false;
  #patience: NodeJS.Timeout | undefined;

  constructor(runs: readonly TaskRun[], begin: (run: TaskRun) => void) {
    this.#runs = [...runs];
    this.#begin = begin;
  }

  /** Those that have not ended, in their order: a copy. */
  get left(): TaskRun[] {
    return [...this.#runs];
  }

  /** It has its worker. @param giveUp one that has waited too long */
  begin(giveUp: (run: TaskRun) => void): void {
    this.#hasWorker = true;
    this.#patience = setTimeout(() => {
      for (const run of this.#runs.slice(1).reverse()) giveUp(run);
    }, PATIENCE_MS);
    this.#beginFirst();
  }

  /** The same task begins again. */
  replace(run: TaskRun, next: TaskRun): void {
    this.#runs[this.#runs.indexOf(run)] = next;
  }

  /** It has ended, or does not wait any more. @returns whether that was the last */
  leave(run: TaskRun): boolean {
    const place = this.#runs.indexOf(run);
    this.#runs.splice(place, 1);
    if (this.#runs.length === 0) {
      clearTimeout(this.#patience);
      return true;
    }
    if (place === 0 && this.#hasWorker) this.#beginFirst();
    return false;
  }

  #beginFirst(): void {
    const [first] = this.#runs;
    if (first !== undefined) this.#begin(first);
  }
}
