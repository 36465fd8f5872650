import type { Log } from "../../log.ts";
import { Loop } from "../../loop.ts";
import type { TaskFigureStore } from "./task-figure-store.ts";

const EVERY_MS = 5_000;
const FAILED_PAUSE_MS = 10_000;
/** One transaction folds so many additions. */
const AT_ONCE = 5_000;

/**
 * Folds what transactions have added to the figures into minutes and hours: reads count both, so nothing depends on when. All
 * managers do it, each what no other is at. A crash in the middle leaves what was added where it was.
 */
export class TaskFigureFolder {
  readonly #parts: { store: Pick<TaskFigureStore, "fold">; log: Log };
  readonly #loop = new Loop({ round: () => this.#fold(), failed: (error) => this.#failed(error) });

  constructor(parts: { store: Pick<TaskFigureStore, "fold">; log: Log }) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start(EVERY_MS);
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #fold(): Promise<number> {
    const folded = await this.#parts.store.fold(AT_ONCE);
    return folded < AT_ONCE ? EVERY_MS : 0;
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "the tasks' figures could not be folded; it is tried again");
    return FAILED_PAUSE_MS;
  }
}
