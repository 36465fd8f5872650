import { onAbort } from "./on-abort.ts";

/** 24.8 days: a longer timer fires at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * Aborts with the first of `others` that does, with its reason, or when its time is up. Release it when it is no longer needed: what
 * AbortSignal.any makes stays in the list of each of its signals for as long as these live (Node 20: some 60 bytes, for each call of an app
 * that passes all of them the signal of its end).
 */
export class JoinedSignal {
  readonly #others: readonly AbortSignal[];
  readonly #controller = new AbortController();
  readonly #releases: readonly (() => void)[];
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #isTimeUp = false;

  /** @param timeoutMs not given, or Infinity: as long as it takes */
  constructor(others: readonly (AbortSignal | undefined)[], timeoutMs?: number) {
    this.#others = others.filter((one) => one !== undefined);
    this.#releases = this.#others.map((other) => onAbort(other, () => this.#follow()));
    if (timeoutMs !== undefined && Number.isFinite(timeoutMs))
      this.#timer = setTimeout(() => this.#endTime(), Math.min(timeoutMs, LONGEST_TIMER_MS));
    this.#follow();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time was up, rather than one of the others aborted. */
  get isTimeUp(): boolean {
    return this.#isTimeUp;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  /** Ends the time limit, as what it was for has come. */
  stopClock(): void {
    clearTimeout(this.#timer);
  }

  release(): void {
    this.stopClock();
    for (const release of this.#releases) release();
  }

  #follow(): void {
    const first = this.#others.find(({ aborted }) => aborted);
    if (first === undefined) return;
    this.release();
    this.abort(first.reason);
  }

  #endTime(): void {
    this.#isTimeUp = !this.signal.aborted;
    this.abort(new DOMException("its time is up", "TimeoutError"));
  }
}
