import type { AuditedAction, TimelineEntry, TimelineKind } from "@unacked/contracts";
import { END_REASONS, INTERRUPTED } from "./end-reasons.ts";
import type { Tone } from "./statuses.ts";

interface Look {
  tone: Tone;
  sign: string;
}

const LOOKS: Record<TimelineKind, Look> = {
  created: { tone: "over", sign: "+" },
  asked: { tone: "wait", sign: "→" },
  started: { tone: "good", sign: "●" },
  "attempt-failed": { tone: "bad", sign: "↻" },
  silent: { tone: "bad", sign: "◍" },
  heard: { tone: "good", sign: "◉" },
  updated: { tone: "good", sign: "⇄" },
  rejected: { tone: "bad", sign: "⊘" },
  ended: { tone: "over", sign: "○" },
};

const ASKED: Partial<Record<AuditedAction, string>> = {
  "observer.stop": "asked to stop",
  "observer.restart": "asked to restart",
  "observer.change": "changed",
  "observer.pause": "asked to pause",
  "observer.resume": "asked to resume",
  "observer.set-checkpoint": "its checkpoint was set",
  "observer.reset-checkpoint": "its checkpoint was reset",
  "observer.take-back": "taken back into the books",
};

/** What an entry of a timeline says, in words. */
export function looksOfEntry(entry: TimelineEntry): Look & { text: string } {
  const { kind, attempt, action, reason, text } = entry;
  const look = LOOKS[kind];
  switch (kind) {
    case "created":
    case "started":
      return { ...look, text: kind };
    case "asked":
      return { ...look, text: (action && ASKED[action]) ?? action ?? "changed" };
    case "attempt-failed":
      return { ...look, text: `attempt ${attempt ?? ""} failed` };
    case "silent":
      return { ...look, text: "silent" };
    case "heard":
      return { ...look, text: "heard again" };
    case "updated":
      return { ...look, text: "took what was changed" };
    case "rejected":
      return { ...look, text: "rejected what was changed" };
    case "ended": {
      // A run that was restarted and says why was interrupted.
      const { meaning, tone } = reason === "restarted" && text !== null ? INTERRUPTED : endOf(reason);
      return { ...look, tone, text: `ended: ${meaning}` };
    }
    default:
      return kind satisfies never;
  }
}

const endOf = (reason: TimelineEntry["reason"]) =>
  reason === null ? { tone: "over" as const, meaning: "nobody knows why" } : END_REASONS[reason];
