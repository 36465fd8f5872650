import type { Log } from "./log.ts";

/** When so many wait, others are answered at once with how it stands. */
const MAX_WAITS = 10_000;
const LOOK_EVERY_MS = 500;

export interface WaitsStore<Id extends string> {
  /** Those of these that are over. */
  findOver(ids: Id[]): Promise<Id[]>;
}

/**
 * Those who wait for the end of a task, or of a flow. What this manager writes itself wakes them at once; what another one writes is looked
 * for twice a second, by one statement for all.
 */
export class Waits<Id extends string> {
  readonly #store: WaitsStore<Id>;
  readonly #log: Log;
  readonly #waiting = new Map<Id, Set<() => void>>();
  /** How many wait in all; many may wait for one. */
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: WaitsStore<Id>, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** These are over. */
  over(ids: readonly Id[]): void {
    if (this.#waiting.size === 0) return;
    for (const id of ids) for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  /** Finds it as it is when it is over, or after `limitMs`; or as soon as `gone` says that nobody is there to be told. */
  async found<View>(
    id: Id,
    limitMs: number,
    { find, isOver }: { find(): Promise<View | undefined>; isOver(view: View): boolean },
    gone: AbortSignal,
  ): Promise<View | undefined> {
    const first = await find();
    if (first === undefined || limitMs === 0 || isOver(first)) return first;
    const over = this.until(id, limitMs, gone);
    // It may have ended before anybody waited.
    const now = await find();
    if (now === undefined || isOver(now)) {
      this.over([id]);
      return now;
    }
    await over;
    return gone.aborted ? now : find();
  }

  /** Resolves when it is over, after `limitMs`, or when whoever waits has gone. */
  async until(id: Id, limitMs: number, gone: AbortSignal): Promise<void> {
    if (this.#count >= MAX_WAITS || gone.aborted) return;
    this.#count += 1;
    const waiters = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiters);
    this.#timer ??= setTimeout(() => void this.#look(), LOOK_EVERY_MS);
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        gone.removeEventListener("abort", done);
        if (waiters.delete(done)) this.#count -= 1;
        if (waiters.size === 0 && this.#waiting.get(id) === waiters) this.#waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(done, limitMs);
      waiters.add(done);
      gone.addEventListener("abort", done);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const waiters of [...this.#waiting.values()]) for (const done of [...waiters]) done();
  }

  async #look(): Promise<void> {
    try {
      this.over(await this.#store.findOver([...this.#waiting.keys()]));
    } catch (error) {
      this.#log.debug({ err: error }, "whether tasks or flows are over could not be looked up; it is tried again");
    }
    this.#timer = this.#waiting.size === 0 ? undefined : setTimeout(() => void this.#look(), LOOK_EVERY_MS);
  }
}
