import { aTurnLater } from "./a-turn-later.ts";
import type { Confirms } from "./confirms.ts";
import type { Saving } from "./saving.ts";

/** What all are given whose checkpoints wait together, for as long as they do. */
type Shared = { readonly stored: Promise<void>; readonly saved: Promise<void>; readonly sinceMs: number };

/** Those of one moment have one time: each of its own would cost memory for each. */
const ONE_MOMENT_MS = 10;

export interface SharedSavesParts {
  readonly saving: Saving;
  readonly confirms: Confirms;
  /** Aborted: the run is to end. */
  readonly signal: AbortSignal;
  /** Told at once of what was not saved: lines of a handler that has settled are dropped. */
  warn(error: unknown): void;
}

/** Saves as the handler is given them: those whose checkpoints wait together have one promise, and a stop does not let them wait for ever. */
export class SharedSaves {
  readonly #parts: SharedSavesParts;
  #shared: Shared | undefined;

  constructor(parts: SharedSavesParts) {
    this.#parts = parts;
  }

  /** Nobody need await it. */
  save(value: unknown): Promise<void> {
    try {
      const stored = this.#parts.saving.save(value);
      if (!this.#isShared(stored)) this.#share(stored);
      return (this.#shared as Shared).saved;
    } catch (error) {
      return this.#told(Promise.reject(error as Error));
    }
  }

  /** Who comes after a stop has a time of his own: that of those before him is nearly over, or would never be if it began again for each. */
  #isShared(stored: Promise<void>): boolean {
    if (this.#shared?.stored !== stored) return false;
    return !this.#parts.signal.aborted || performance.now() - this.#shared.sinceMs < ONE_MOMENT_MS;
  }

  /** Until it has settled, or another one is. */
  #share(stored: Promise<void>): void {
    const inTime = this.#parts.confirms.inTime(stored);
    const shared = { stored, saved: this.#told(inTime), sinceMs: performance.now() };
    const forget = (): void => {
      if (this.#shared === shared) this.#shared = undefined;
    };
    this.#shared = shared;
    inTime.then(forget, forget);
  }

  #told(sent: Promise<void>): Promise<void> {
    sent.catch((error: unknown) => this.#parts.warn(error));
    const saved = sent.catch(aTurnLater);
    saved.catch(() => undefined);
    return saved;
  }
}
