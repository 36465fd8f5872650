import type { CreateObserver, ObserverView } from "@unacked/contracts";
import { outcomeOf } from "../client/call-failure.ts";
import type { CliFailure } from "../failure.ts";
import type { Session } from "../session.ts";

/** The most in one call: it then answers within seconds, and progress shows. */
const MAX_AT_ONCE = 500;
/** The most bytes in one call, well below what a manager of 512 MiB takes, whatever the values are. */
const MAX_BYTES_AT_ONCE = 1_572_864;

/**
 * Creates them, some hundreds in one call, and tells each outcome as it is known. Throws when a call as a whole fails; what
 * was told before stays done.
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
