import type { RunId } from "@unacked/contracts";

/** What this service has of the same observer, older runs first. */
export interface KnownRun {
  readonly runId: RunId;
  readonly revision: number;
  /** Of a generation whose lease is held; else its message is no longer this service's. */
  readonly live: boolean;
}

export interface StartCircumstances {
  readonly knowsType: boolean;
  /** A stop of this revision or a higher one was here. */
  readonly isBuried: boolean;
  readonly known: readonly KnownRun[];
}

export type StartDecision =
  /** Run it, once whatever still runs of the observer has settled; `obsolete` ones are told to stop for it. */
  | { kind: "run"; obsolete: readonly RunId[] }
  | { kind: "refuse"; reason: "stopped" | "unknown-type" }
  | { kind: "drop-duplicate"; keptRunId: RunId };

/** What is to be done with a start that arrived. */
export function decideStart(
  { revision }: { revision: number },
  { knowsType, isBuried, known }: StartCircumstances,
): StartDecision {
  if (isBuried || known.some((run) => run.revision > revision)) return { kind: "refuse", reason: "stopped" };
  if (!knowsType) return { kind: "refuse", reason: "unknown-type" };
  // A run that lost its lease keeps nothing: its successor waits until it has settled.
  const live = known.filter((run) => run.live);
  const same = live.find((run) => run.revision === revision);
  if (same !== undefined) return { kind: "drop-duplicate", keptRunId: same.runId };
  return { kind: "run", obsolete: live.map((run) => run.runId) };
}
