import type { ErrorText, MessageId, ObserverId, RunEndReason, RunId, ServiceId } from "@unacked/contracts";
import type { RunStep } from "../observers/run-story.ts";

/** Requested: it waits for its admission · Current: the observer's own · Superseded: told to stop, not yet ended · Ended. */
export type RunState = "Requested" | "Current" | "Superseded" | "Ended";

/** The part of a run's row that decisions need. */
export interface RunBook {
  readonly id: RunId;
  readonly observerId: ObserverId;
  readonly serviceId: ServiceId;
  generation: number;
  readonly messageId: MessageId;
  readonly revision: number;
  /** It is the observer's first, second, … */
  readonly runNumber: number;
  /** A run of a type that asks before it starts was given this token, or is to be given it. */
  fencingToken: number | null;
  /** Its service told it; null for runs of 0.1.0, and for those that were first heard of by their end. */
  deliveryCount: number | null;
  /** The version that it runs by; null where its service did not say it. */
  specVersion: number | null;
  readonly startedAtMs: number;
  state: RunState;
  endReason: RunEndReason | null;
  /** What made it begin again through no fault of its own. */
  interruption: string | null;
  /** The service's clock, for display; null when only the manager knows of the end: then it is the time of writing. */
  endedAtMs: number | null;
  error: ErrorText | null;
  /** What happened in it meanwhile. */
  story: readonly RunStep[];
}
