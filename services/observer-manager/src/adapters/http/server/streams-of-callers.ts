import { HttpProblem } from "../api/http-problem.ts";

/**
 * An application that follows the changes once for each of its users has some hundreds; a client that forgets to close them has more and
 * more.
 */
export const MAX_STREAMS_OF_ONE_CALLER = 1_000;
const RETRY_AFTER_S = 5;

/**
 * How many streams of changes each caller has open. A stream holds up to 1 MiB that its client has not read, is written to at each change,
 * and costs only one request while it is open, so that rate limits do not bound them.
 */
export class StreamsOfCallers {
  readonly #open = new Map<string, number>();

  /** Throws if there can be no more. */
  refuseIfFull(caller: string): void {
    if (this.#of(caller) < MAX_STREAMS_OF_ONE_CALLER) return;
    const detail = `One caller may have ${MAX_STREAMS_OF_ONE_CALLER} streams of changes open at one manager; close some`;
    throw new HttpProblem({ code: "too-many-requests", detail, retryAfterS: RETRY_AFTER_S });
  }

  opened(caller: string): void {
    this.#open.set(caller, this.#of(caller) + 1);
  }

  closed(caller: string): void {
    const left = this.#of(caller) - 1;
    if (left > 0) this.#open.set(caller, left);
    else this.#open.delete(caller);
  }

  #of(caller: string): number {
    return this.#open.get(caller) ?? 0;
  }
}
