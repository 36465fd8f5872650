import type { CreateObserver, ObserverView } from "@unacked/contracts";
import { outcomeOf } from "../client/call-failure.ts";
import type { CliFailure } from "../failure.ts";
import type { Session } from "../session.ts";

/** Of one call: it answers within seconds, and a count is seen to rise. */
const MAX_AT_ONCE = 500;
/** Well below what the manager takes (32 MiB). */
const MAX_BYTES_AT_ONCE = 8_388_608;

/**
 * Creates them, in calls of some hundreds, and tells the outcome of each as it is known. Throws when a call as a whole
 * fails: what was told before is done and stays so.
 */
export async function createAll(
  { api }: Session,
  observers: CreateObserver[],
  tell: (outcome: ObserverView | CliFailure, observer: CreateObserver) => void,
  signal?: AbortSignal,
): Promise<void> {
  for (const some of portions(observers)) {
    const { results } = await api.call("createObservers", { body: { observers: some } }, { signal });
    some.forEach((observer, index) => {
      const result = results[index];
      if (result === undefined) throw new Error(`the manager answered for ${results.length} of ${some.length}`);
      tell(outcomeOf(result, observer.name), observer);
    });
  }
}

export function portions(observers: CreateObserver[]): CreateObserver[][] {
  const all: CreateObserver[][] = [];
  let bytesOfLast = Number.POSITIVE_INFINITY;
  for (const observer of observers) {
    const bytes = Buffer.byteLength(JSON.stringify(observer));
    const last = all.at(-1);
    if (last === undefined || last.length >= MAX_AT_ONCE || bytesOfLast + bytes > MAX_BYTES_AT_ONCE) {
      all.push([observer]);
      bytesOfLast = bytes;
    } else {
      last.push(observer);
      bytesOfLast += bytes;
    }
  }
  return all;
}
