import type { RunHeld, RunRequested } from "@unacked/contracts";
import { isAsking, type LiveRun, standingOf } from "./live-run.ts";

/**
 * The event that tells the manager that a run still has its message, on a live channel; one that asks for its admission asks again.
 * Undefined if it is ending: its end is the answer.
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
