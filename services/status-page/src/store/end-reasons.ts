import type { RunEndReason } from "@unacked/contracts";
import type { Tone } from "./statuses.ts";

/** Why a run ended, for people. */
export const END_REASONS: Record<RunEndReason, { tone: Tone; meaning: string }> = {
  stopped: { tone: "over", meaning: "stopped on request" },
  restarted: { tone: "over", meaning: "restarted on request" },
  completed: { tone: "over", meaning: "its handler returned" },
  moved: { tone: "over", meaning: "moved to another service, for balance or on request" },
  "type-gone": { tone: "over", meaning: "the folder of its service has its type no more" },
  draining: { tone: "over", meaning: "its service gave it back in order" },
  "service-stopped": { tone: "over", meaning: "its service ended in order" },
  superseded: { tone: "wait", meaning: "a newer run took its place" },
  duplicate: { tone: "wait", meaning: "the same start came twice" },
  obsolete: { tone: "wait", meaning: "an older revision than the books'" },
  "not-wanted": { tone: "wait", meaning: "it was not to run any more" },
  unknown: { tone: "wait", meaning: "the books did not know it" },
  failed: { tone: "bad", meaning: "its attempts were used up" },
  "lease-lost": { tone: "bad", meaning: "its service lost the broker" },
  "service-gone": { tone: "bad", meaning: "its service died" },
  "missing-from-inventory": { tone: "bad", meaning: "its service no longer had it" },
};

/** It is told as restarted, too: through no fault of its own, and by nobody's request. */
export const INTERRUPTED: { tone: Tone; meaning: string } = { tone: "wait", meaning: "interrupted, and begun again" };
