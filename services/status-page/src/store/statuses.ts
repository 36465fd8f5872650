import { LIVING_STATUSES, type ObserverStatus, traitsOf } from "@unacked/contracts";

/** good: as it should be · wait: on its way · bad: somebody has to look · over: nothing goes on any more */
export type Tone = "good" | "wait" | "bad" | "over";

interface StatusLook {
  tone: Tone;
  /** Beside the colour, so that nobody depends on colours. */
  sign: string;
  meaning: string;
}

/** In the order in which they are shown. A status that the contracts gain is missing here, and does not compile. */
export const STATUS_LOOKS: Record<ObserverStatus, StatusLook> = {
  Processing: { tone: "good", sign: "●", meaning: "runs" },
  Created: { tone: "wait", sign: "◔", meaning: "waits for a worker" },
  Redistributing: { tone: "wait", sign: "◑", meaning: "its service is gone; the broker gives it to another" },
  Retrying: { tone: "bad", sign: "↻", meaning: "its handler threw; it is tried again" },
  Failed: { tone: "bad", sign: "✕", meaning: "its attempts are used up" },
  OnDeleting: { tone: "wait", sign: "◌", meaning: "is being stopped" },
  Completed: { tone: "over", sign: "✓", meaning: "its handler returned" },
  Deleted: { tone: "over", sign: "○", meaning: "stopped for good" },
};

export const STATUSES = Object.keys(STATUS_LOOKS) as ObserverStatus[];

/** What the list shows if nobody asks for anything else. */
export const LIVING: ReadonlySet<ObserverStatus> = new Set(LIVING_STATUSES);

export type Action = "stop" | "force-stop" | "restart";

/** What the manager would let one do with an observer in this status. */
export function allows(status: ObserverStatus, action: Action): boolean {
  switch (action) {
    case "stop":
      return traitsOf(status).stop === "gently";
    case "force-stop":
      return traitsOf(status).stop === "by-force";
    case "restart":
      return traitsOf(status).canRestart;
    default:
      return action satisfies never;
  }
}
