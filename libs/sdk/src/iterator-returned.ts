import { NonRetryableError } from "./non-retryable-error.ts";

/** Throws where a handler has returned an iterator: it is a generator, of which nothing has run yet, nor ever would. */
export function refuseIterator(returned: unknown): void {
  if (typeof returned !== "object" || returned === null) return;
  const { next } = returned as { next?: unknown };
  const isIterable = Symbol.asyncIterator in returned || Symbol.iterator in returned;
  if (isIterable && typeof next === "function")
    throw new NonRetryableError(
      "run returned an iterator, which nothing iterates: a generator (function*) cannot be a handler",
    );
}
