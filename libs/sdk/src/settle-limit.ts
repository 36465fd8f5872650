import { SdkError } from "./sdk-error.ts";

/** Of this process when it began: a clock that a test moves would end it too soon, or never. */
const [ownSetTimeout, ownClearTimeout] = [setTimeout, clearTimeout];

/** As `finished`, or rejects with `not-settled`. Nobody need await it. */
export function settledWithin<T>(limitMs: number, finished: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new SdkError(
      "not-settled",
      `the handler has not settled within ${limitMs} ms: it ignores its signal, or needs longer to end (settleWithinMs)`,
    );
    timer = ownSetTimeout(() => reject(error), limitMs);
  });
  const settled = Promise.race([finished, late]).finally(() => ownClearTimeout(timer));
  settled.catch(() => undefined);
  return settled;
}
