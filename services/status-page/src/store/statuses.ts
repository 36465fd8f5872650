import { canPause, canResume, LIVING_STATUSES, type ObserverStatus, type Pending, traitsOf } from "@unacked/contracts";

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
  Scheduled: { tone: "wait", sign: "◷", meaning: "starts at its time" },
  Created: { tone: "wait", sign: "◔", meaning: "waits for a worker" },
  Redistributing: { tone: "wait", sign: "◑", meaning: "its service is gone; the broker gives it to another" },
  Retrying: { tone: "bad", sign: "↻", meaning: "its handler threw; it is tried again" },
  Failed: { tone: "bad", sign: "✕", meaning: "its attempts are used up" },
  OnDeleting: { tone: "wait", sign: "◌", meaning: "is being stopped" },
  Paused: { tone: "over", sign: "‖", meaning: "does not run until it is resumed" },
  Completed: { tone: "over", sign: "✓", meaning: "its handler returned" },
  Deleted: { tone: "over", sign: "○", meaning: "stopped for good" },
};

/** Of one that is Processing, and is not heard. */
export const SILENT_LOOK: StatusLook & { text: string } = {
  tone: "bad",
  sign: "◍",
  text: "Silent",
  meaning: "is Processing, and has neither emitted nor said that it is alive for longer than it may",
};

/** What stands beside a status. */
export const PENDING_LOOKS: Record<Pending, StatusLook & { text: string }> = {
  pause: {
    tone: "wait",
    sign: "‖",
    text: "pausing",
    meaning: "it is being paused; its message is not known to be gone yet",
  },
  update: {
    tone: "wait",
    sign: "↺",
    text: "updating",
    meaning: "it was changed; its run is told, or stopped and sent again as it is wanted now",
  },
};

export const STATUSES = Object.keys(STATUS_LOOKS) as ObserverStatus[];

/** What the list shows if nobody asks for anything else. */
export const LIVING: ReadonlySet<ObserverStatus> = new Set(LIVING_STATUSES);

/** In the order of their buttons. */
export const OBSERVER_ACTIONS = ["stop", "force-stop", "restart", "pause", "resume"] as const;
export type Action = (typeof OBSERVER_ACTIONS)[number];

/** What the manager would let one do with an observer that stands so. */
export function allows({ status, pending }: { status: ObserverStatus; pending: Pending | null }, action: Action): boolean {
  switch (action) {
    case "stop":
      return traitsOf(status).stop === "gently";
    case "force-stop":
      return traitsOf(status).stop === "by-force";
    case "restart":
      return traitsOf(status).canRestart && pending === null;
    case "pause":
      return canPause({ status, pending });
    case "resume":
      return canResume({ status, pending });
    default:
      return action satisfies never;
  }
}
