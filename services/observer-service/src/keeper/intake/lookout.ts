import { type Appetite, type Circumstances, isSettled } from "./appetite.ts";
import type { Caution } from "./caution.ts";

export interface LookoutParts {
  /** The prefetch, and the bound of what is taken. */
  readonly workers: number;
  readonly running: () => number;
  /** The memory that bounds how much is taken beside `workers`. Undefined means no such bound. */
  readonly memory: ((isSettled: boolean) => Pick<Circumstances, "costBytes" | "memory">) | undefined;
  readonly caution: Caution;
  /** How many have not begun, or have not been reported. */
  readonly underWay: () => number;
  /** Asks the broker for an answer now. */
  readonly prove: () => void;
}

const TOLD_AFTER_MS = 1_000;

/** What bounds how much is taken: workers, memory, and how careful it has to be. */
export class Lookout {
  readonly #parts: LookoutParts;

  constructor(parts: LookoutParts) {
    this.#parts = parts;
  }

  get freeWorkers(): number {
    return this.#parts.workers - this.#parts.running();
  }

  /** Whether nothing but the workers bounds what is taken. */
  get isUnbounded(): boolean {
    return this.#parts.memory === undefined && this.#care === undefined;
  }

  circumstances(appetite: Appetite): Circumstances {
    const { workers, running, memory } = this.#parts;
    const now = memory?.(isSettled(appetite, performance.now())) ?? { costBytes: 0, memory: [] };
    return { workers, running: running(), care: this.#care, ...now };
  }

  /** Whether it has awaited an answer for so long that it is worth reporting. */
  get awaitsAnswer(): boolean {
    return this.freeWorkers > 0 && this.#parts.caution.waitsMs(performance.now()) >= TOLD_AFTER_MS;
  }

  /** While it is careful: when all of a window has come, and has begun, the broker is to answer before the next. */
  look(appetite: Appetite): void {
    const { caution, underWay, prove } = this.#parts;
    const isSpent = appetite.kind === "taking" && !appetite.isWhole && appetite.taken >= appetite.window;
    if (caution.look({ isSpent, underWay }, performance.now())) prove();
  }

  get #care(): Circumstances["care"] {
    const { caution } = this.#parts;
    const window = caution.size(performance.now());
    return window === undefined ? undefined : { window, mayGoOn: caution.mayGoOn };
  }
}
