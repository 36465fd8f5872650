import { onAbort } from "./on-abort.ts";
import type { UpdateOutcome } from "./update.ts";

/** That of a service by default (`UPDATE_TIMEOUT_MS`). */
const LIMIT_MS = 10_000;

/** For a handler that ends, or is told to, before it has answered. */
export const ENDED_FIRST: UpdateOutcome = { outcome: "restart", reason: "its handler ended before it had answered" };

/** Params that wait, and all who wait for what becomes of them, or of those that have taken their place. */
class Next {
  params: unknown;
  readonly outcome: Promise<UpdateOutcome>;
  resolve: (outcome: UpdateOutcome | Promise<UpdateOutcome>) => void = () => undefined;

  constructor() {
    this.outcome = new Promise((resolve) => void (this.resolve = resolve));
  }
}

/**
 * The updates of a run in memory, as a service gives them: one answer is awaited at a time, and of those that come meanwhile the newest
 * counts. After `restart` it begins again with that, and nobody is asked.
 */
export class UpdateLine {
  readonly #ask: (params: unknown) => Promise<UpdateOutcome>;
  readonly #restart: (params: unknown) => void;
  #isAsking = false;
  #next: Next | undefined;

  /** @param restart it is to begin again with these, of which it was not asked */
  constructor(ask: (params: unknown) => Promise<UpdateOutcome>, restart: (params: unknown) => void) {
    this.#ask = ask;
    this.#restart = restart;
  }

  /** Resolves with what becomes of them, or of those that have taken their place. */
  take(params: unknown): Promise<UpdateOutcome> {
    if (!this.#isAsking) return this.#offer(params);
    this.#next ??= new Next();
    this.#next.params = params;
    return this.#next.outcome;
  }

  async #offer(params: unknown): Promise<UpdateOutcome> {
    this.#isAsking = true;
    try {
      const outcome = await this.#ask(params);
      this.#askedNext((next) => {
        if (outcome.outcome !== "restart") return this.#offer(next.params);
        this.#restart(next.params);
        return outcome;
      });
      return outcome;
    } catch (error) {
      this.#askedNext((next) => this.#offer(next.params));
      throw error;
    }
  }

  /** Nobody is asked any more: what becomes of those that have waited for that. */
  #askedNext(outcomeOf: (next: Next) => UpdateOutcome | Promise<UpdateOutcome>): void {
    this.#isAsking = false;
    const next = this.#next;
    this.#next = undefined;
    next?.resolve(outcomeOf(next));
  }
}

/** What a handler answers, unless that takes too long, or it ends first: then it begins again. */
export function answerInTime(
  answer: Promise<UpdateOutcome>,
  signal: AbortSignal,
  ended: Promise<unknown>,
): Promise<UpdateOutcome> {
  return new Promise((resolve) => {
    const settle = (outcome: UpdateOutcome): void => {
      clearTimeout(timer);
      forget();
      resolve(outcome);
    };
    const reason = `onUpdate has not answered for ${LIMIT_MS} ms`;
    const timer = setTimeout(() => settle({ outcome: "restart", reason }), LIMIT_MS);
    const forget = onAbort(signal, () => settle(ENDED_FIRST));
    void answer.then(settle);
    void ended.then(() => settle(ENDED_FIRST));
  });
}
