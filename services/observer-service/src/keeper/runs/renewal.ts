import type { Outdated } from "./handlers.ts";

const AT_ONCE = 20;
const PAUSE_MS = 50;
/** How long new slots are waited for, so that all of them may share what moves. */
const PATIENCE_MS = 3_000;

export interface RenewalParts {
  /** @param isPatient whether all new slots are still waited for */
  outdated(isPatient: boolean): Outdated[];
  /** Called when nobody runs older code any more. */
  onDone(count: number): void;
}

/**
 * Makes runs of older code begin again with the newest, a few at a time. Each time they are looked up anew, so a second load of the
 * folder meanwhile, or the death of a slot, does no harm. A crash forgets it: the next process has the newest code.
 */
export class Renewal {
  readonly #parts: RenewalParts;
  #timer: NodeJS.Timeout | undefined;
  #sinceMs = 0;
  #count = 0;

  constructor(parts: RenewalParts) {
    this.#parts = parts;
  }

  begin(): void {
    this.#sinceMs = performance.now();
    if (this.#timer === undefined) this.#step();
  }

  #step(): void {
    this.#timer = undefined;
    const isPatient = performance.now() - this.#sinceMs < PATIENCE_MS;
    const left = this.#parts.outdated(isPatient);
    if (left.length === 0) {
      this.#parts.onDone(this.#count);
      this.#count = 0;
      return;
    }
    for (const { begin } of fewOf(left)) {
      this.#count += 1;
      begin();
    }
    this.#timer = setTimeout(() => this.#step(), PAUSE_MS).unref();
  }
}

/** Runs that need a slot of their own go one at a time, as there is one warm spare. */
function fewOf(left: readonly Outdated[]): Outdated[] {
  const ready = left.filter(({ isReady }) => isReady);
  const apart = ready.filter(({ isApart }) => isApart).slice(0, 1);
  return [...ready.filter(({ isApart }) => !isApart).slice(0, AT_ONCE), ...apart];
}
