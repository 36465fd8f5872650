import type { ObserverStatus } from "@unacked/contracts";
import type { Manner } from "./walk-steps.ts";

/**
 * What a user knows who keeps a list of what was asked for and answered. Pure. From it follows where each observer has to
 * stand once all is calm again, whatever happened on the way.
 */
export interface WalkObserver {
  readonly id: string;
  readonly name: string;
  readonly manner: Manner;
  /** `asked`: no answer came; it may or may not have been done, so it is asked again. */
  created: "asked" | "yes";
  stopped: "no" | "asked" | "yes";
}

const AT_REST: Record<Manner, ObserverStatus> = {
  steady: "Processing",
  "slow-to-stop": "Processing",
  recovering: "Processing",
  returning: "Completed",
  hopeless: "Failed",
};

/** Params of the type `stamp`, and the retry policy. */
export function behaviour(manner: Manner): { params: object; retry?: object } {
  const everyMs = ACT_EVERY_MS;
  switch (manner) {
    case "steady":
      return { params: { everyMs } };
    case "slow-to-stop":
      return { params: { everyMs, stopDelayMs: SLOW_STOP_MS } };
    case "recovering":
      return { params: { everyMs, throwAfterMs: 300, throwTimes: 2 }, retry: { delaysMs: [200] } };
    case "returning":
      return { params: { everyMs, returnAfterMs: 1_500 } };
    case "hopeless":
      return { params: { everyMs, throwAfterMs: 500 }, retry: { maxAttempts: 2, delaysMs: [100] } };
    default:
      return manner satisfies never;
  }
}

const ACT_EVERY_MS = 50;
const SLOW_STOP_MS = 300;

/** What a closed connection may cost: the broker requeues at once, and another starts while the old one stops. */
export const MAX_OVERLAP_MS = SLOW_STOP_MS + 1_000;

/** What a frozen process may still do when it wakes: two acts, and those of a handler that takes its time to stop. */
export const MAX_LATE_ACTS = 2 + SLOW_STOP_MS / ACT_EVERY_MS;

export class WalkModel {
  readonly observers: WalkObserver[] = [];

  /** Those that may take a worker. */
  get wanted(): WalkObserver[] {
    return this.observers.filter((one) => one.stopped === "no");
  }

  /** Whom a step may stop, restart, pause or resume: what is asked of it has to have been answered before. */
  pick(share: number): WalkObserver | undefined {
    const known = this.wanted.filter((one) => one.created === "yes");
    return known[Math.floor(share * known.length)];
  }

  get unanswered(): WalkObserver[] {
    return this.observers.filter((one) => one.created === "asked" || one.stopped === "asked");
  }

  atRest(): Map<string, ObserverStatus> {
    return new Map(this.observers.map((one) => [one.id, one.stopped === "no" ? AT_REST[one.manner] : "Deleted"]));
  }
}
