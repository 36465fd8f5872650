import type { RunHeld, RunRequested } from "@unacked/contracts";
import { isAsking, type LiveRun, standingOf } from "./live-run.ts";

/**
 * That a run has its message still, on a live channel; of one that asks for its admission that it does so. The books hear of it by this.
 * Undefined: it is ending, and its end is the answer.
 */
export function heldBy(run: LiveRun): RunHeld | RunRequested | undefined {
  const { phase } = run.state;
  const goesOn = phase === "waiting" || phase === "requested" || phase === "running" || phase === "backing-off";
  if (!goesOn) return undefined;
  const { observerId, messageId, revision, specVersion } = run.start;
  const { deliveryCount } = run.delivery;
  const identity = { observerId, runId: run.runId, messageId, revision, at: Date.now() };
  run.announced = true;
  if (isAsking(run)) return { kind: "RunRequested", ...identity, deliveryCount };
  return { kind: "RunHeld", ...identity, deliveryCount, specVersion, ...standingOf(run) };
}
