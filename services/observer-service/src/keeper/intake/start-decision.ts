import type { MessageId, RunId } from "@unacked/contracts";

/** What this service has of the same observer, older runs first. */
export interface KnownRun {
  readonly runId: RunId;
  readonly revision: number;
  readonly messageId: MessageId;
  readonly deliveryCount: number;
  /** Of a generation whose lease is held; else its message is no longer this service's. */
  readonly live: boolean;
  /** It ends for good, and its message with it: it stands for nothing that comes. */
  readonly ending: boolean;
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
  | { kind: "drop-duplicate"; keptRunId: RunId }
  /** The message that a live run holds was given out once more: the broker has taken back all that it had given us. */
  | { kind: "taken-back"; runId: RunId };

export interface ArrivedStart {
  readonly revision: number;
  readonly messageId: MessageId;
  readonly deliveryCount: number;
}

/** What is to be done with a start that arrived. */
export function decideStart(
  { revision, messageId, deliveryCount }: ArrivedStart,
  { knowsType, isBuried, known }: StartCircumstances,
): StartDecision {
  // One that lost its lease, or ends for good, keeps nothing: its successor waits until it has settled.
  const live = known.filter((run) => run.live);
  const held = live.find((run) => run.messageId === messageId && run.deliveryCount < deliveryCount);
  if (held !== undefined) return { kind: "taken-back", runId: held.runId };
  if (isBuried || known.some((run) => run.revision > revision)) return { kind: "refuse", reason: "stopped" };
  if (!knowsType) return { kind: "refuse", reason: "unknown-type" };
  const same = live.find((run) => run.revision === revision && !run.ending);
  if (same !== undefined) return { kind: "drop-duplicate", keptRunId: same.runId };
  return { kind: "run", obsolete: live.map((run) => run.runId) };
}
