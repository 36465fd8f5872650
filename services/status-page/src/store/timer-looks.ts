import type { TimerStatusName } from "@unacked/contracts";
import type { Tone } from "./statuses.ts";

/** In the order in which they are shown. */
export const TIMER_LOOKS: Record<TimerStatusName, { tone: Tone; sign: string; meaning: string }> = {
  Waiting: { tone: "wait", sign: "◷", meaning: "is not due, or nobody listens" },
  Firing: { tone: "wait", sign: "◑", meaning: "is being published" },
  Fired: { tone: "over", sign: "✓", meaning: "the broker has confirmed it" },
  Cancelled: { tone: "over", sign: "○", meaning: "it never fires" },
  Expired: { tone: "bad", sign: "✕", meaning: "nobody heard it in time" },
};

export const TIMER_SHOWN = Object.keys(TIMER_LOOKS) as TimerStatusName[];
