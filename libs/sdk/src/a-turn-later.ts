import { setImmediate } from "node:timers";

/**
 * Rejects with `error` in the next turn of the event loop: a handler that does the same again whatever it is refused with would else let nothing else of
 * the process run.
 */
export async function aTurnLater(error: unknown): Promise<never> {
  await new Promise((resolve) => setImmediate(resolve));
  throw error;
}
