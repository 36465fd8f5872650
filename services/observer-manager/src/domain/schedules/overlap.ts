import type { OccurrenceReason } from "@unacked/contracts";
import type { Overlap } from "./definition.ts";

/** At most so many wait for their turn, and so many of backfills beside them: one backfill of the full size fits. */
export const MAX_QUEUED = 1_000;

export type OverlapDecision =
  | { kind: "start" }
  /** What ran before is to be cancelled. */
  | { kind: "start-instead" }
  | { kind: "queue" }
  | { kind: "skip"; reason: Extract<OccurrenceReason, "overlap" | "superseded" | "queue-full"> };

/**
 * What becomes of occurrences that are due at once, in their order.
 * @param running tasks of the same schedule that are not over
 * @param first the place of the one that starts where one alone may: what is on time, before what is caught up
 */
export function decideOverlap(
  policy: Overlap,
  { running, queued }: { running: number; queued: number },
  count: number,
  first = 0,
): OverlapDecision[] {
  let busy = running > 0;
  let waiting = queued;
  return Array.from({ length: count }, (_, place): OverlapDecision => {
    switch (policy) {
      case "allow":
        return { kind: "start" };
      case "cancel-running":
        if (place < count - 1) return { kind: "skip", reason: "superseded" };
        return { kind: running > 0 ? "start-instead" : "start" };
      case "skip":
        return place === first && running === 0 ? { kind: "start" } : { kind: "skip", reason: "overlap" };
      case "queue":
        if (!busy && waiting === 0) {
          busy = true;
          return { kind: "start" };
        }
        if (waiting >= MAX_QUEUED) return { kind: "skip", reason: "queue-full" };
        waiting += 1;
        return { kind: "queue" };
      default:
        return policy satisfies never;
    }
  });
}
