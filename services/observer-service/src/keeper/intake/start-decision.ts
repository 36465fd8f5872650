import type { MessageId, RunId } from "@unacked/contracts";

/** A run of the same observer in this service; older runs come first. */
export interface KnownRun {
  readonly runId: RunId;
  readonly revision: number;
  readonly messageId: MessageId;
  readonly deliveryCount: number;
  /** Whether its generation's lease is held. Otherwise its message is no longer this service's. */
  readonly live: boolean;
  /** Whether it ends for good, and its message with it: then it does not keep a new start out. */
  readonly ending: boolean;
}

export interface StartCircumstances {
  readonly knowsType: boolean;
  /** Whether a stop of this revision or a higher one came before. */
  readonly isBuried: boolean;
  readonly known: readonly KnownRun[];
}

export type StartDecision =
  /** Run it, once every older run of the observer has settled; `obsolete` ones are told to stop for it. */
  | { kind: "run"; obsolete: readonly RunId[] }
  | { kind: "refuse"; reason: "stopped" | "unknown-type" }
  | { kind: "drop-duplicate"; keptRunId: RunId }
  /** The broker gave out a live run's message once more, so it has taken back everything that it had given us. */
  | { kind: "taken-back"; runId: RunId };

export interface ArrivedStart {
  readonly revision: number;
  readonly messageId: MessageId;
  readonly deliveryCount: number;
}

/** Decides what to do with a start that arrived. */
export function decideStart(
  { revision, messageId, deliveryCount }: ArrivedStart,
  { knowsType, isBuried, known }: StartCircumstances,
): StartDecision {
  // A run that lost its lease, or ends for good, keeps nothing: its successor waits until it has settled.
  const live = known.filter((run) => run.live);
  const held = live.find((run) => run.messageId === messageId && run.deliveryCount < deliveryCount);
  if (held !== undefined) return { kind: "taken-back", runId: held.runId };
  if (isBuried || known.some((run) => run.revision > revision)) return { kind: "refuse", reason: "stopped" };
  if (!knowsType) return { kind: "refuse", reason: "unknown-type" };
  const same = live.find((run) => run.revision === revision && !run.ending);
  if (same !== undefined) return { kind: "drop-duplicate", keptRunId: same.runId };
  return { kind: "run", obsolete: live.map((run) => run.runId) };
}
