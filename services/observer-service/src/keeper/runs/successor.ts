import type { Log } from "../../log.ts";
import type { Admission } from "../../wire/attempt.ts";
import { type LiveRun, newestOf, newLiveRun } from "./live-run.ts";

/** What a run's type does now; newer code may ask first, or save, while older code did not. */
export interface RunTraits {
  readonly isAdmitted: boolean;
  readonly hasCheckpoint: boolean;
}

/** How many successors a keeper admits by itself before it has to ask: the manager's next token is higher by one more. */
const OWN_TOKENS = 999;

/**
 * The next run of the same message: it waits for its turn, and begins with what this one has saved.
 *
 * @param failures how many it takes over
 */
export function successorOf(run: LiveRun, failures: number, traits: RunTraits | undefined, log: Log): LiveRun {
  const { start, delivery, isAdmitted, hasCheckpoint } = run;
  const accepted = {
    start,
    delivery,
    isAdmitted: isAdmitted || traits?.isAdmitted === true,
    hasCheckpoint: hasCheckpoint || traits?.hasCheckpoint === true,
  };
  const successor = newLiveRun(accepted, log);
  successor.state = { phase: "waiting", failures };
  const admission = admissionOfNext(run);
  if (admission !== undefined) successor.admission = admission;
  return successor;
}

/** Undefined if it has to ask. */
function admissionOfNext(run: LiveRun): Admission | undefined {
  const { admission } = run;
  if (admission === undefined || admission.ownTokens >= OWN_TOKENS) return undefined;
  return { fencingToken: admission.fencingToken + 1, ownTokens: admission.ownTokens + 1, checkpoint: newestOf(run) };
}
