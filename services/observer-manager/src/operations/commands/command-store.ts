import type { AdmittedSpec, Checkpoint, DoublingPauses, StartObserver, UpdateRuns } from "@unacked/contracts";
import type { Command } from "../../domain/books/command.ts";

/** A claim holds for so long, unless it is renewed: the commands of a manager that died wait so long for another. */
export const CLAIM_HOLDS_MS = 10_000;

/** The commands of one kind that are not sent, or not answered, yet. */
export interface CommandCount {
  kind: Command["kind"];
  count: number;
  /** How long the one that is due for longest has been due, in s; 0 when none is. */
  overdueS: number;
  /** The age of the oldest, in s. */
  oldestS: number;
}

type OfRun = Extract<Command, { kind: "admit" | "tell-checkpoint" | "update-run" | "move-run" }>;

/** A command that is due. */
export type DueCommand = {
  id: string;
  sentCount: number;
  traceContext?: string | null;
  /**
   * Orders about a service's intake alone have it: when it was claimed, by the database's clock. What was claimed later was ordered later.
   */
  sentAtMs?: number | null;
} & (
  | { kind: "start"; start: Omit<StartObserver, "messageId"> | null }
  /** later: its observer is being stopped, which may be taken back · null: the run asks no more. */
  | (OfRun & { kind: "admit"; admission: Admission | "later" | null })
  /** later: as above · null: the run is not its observer's own. */
  | (OfRun & { kind: "update-run"; spec: UpdatedSpec | "later" | null })
  | (OfRun & { kind: "tell-checkpoint" | "move-run" })
  | Exclude<Command, { kind: "start" } | OfRun>
);

/** What a run is admitted with, as the books have it when it is sent. */
export interface Admission {
  fencingToken: number;
  spec: AdmittedSpec;
  /** What the run was given when it asked. */
  checkpoint?: Checkpoint;
}

/** What is wanted of a run by now, as the books have it when it is sent. */
export type UpdatedSpec = UpdateRuns["targets"][number]["spec"];

/** Commands that nobody else sends while the claim holds. */
export interface Claim {
  id: string;
  due: DueCommand[];
}

/**
 * `gone`: the generation it was sent to has no queue any more, so its connection is dead; its death is certified ·
 * `held-up`: the pool's queue cannot be had, which the warnings tell; others are sent meanwhile.
 */
export type SendOutcome = "sent" | "gone" | "failed" | "held-up";

/** No call leaves a transaction open. */
export interface CommandStore {
  /**
   * Claims up to `limit` due commands, for `holdMs`: then they are due again, for any manager, unless renewed or settled. A stop is
   * not claimed, but taken for sent: it is due again after its pause, until it is answered.
   * @param fullPools whose starts are left where they are. Default: none
   */
  claimDue(limit: number, holdMs: number, stopPauses: DoublingPauses, fullPools?: readonly string[]): Promise<Claim>;
  /** The claim holds for `holdMs` from now on. */
  renew(claim: Claim, holdMs: number): Promise<void>;
  /** Removes each, or puts it off, as told; what was forgotten meanwhile, or claimed by another, is left as it is. */
  settle(claim: Pick<Claim, "id">, settled: Settled[]): Promise<void>;
  /**
   * The time until the next command is due; null when there is none. Where the database's clock was set back, what it had put off until
   * then is due at once.
   */
  nextDueInMs(): Promise<number | null>;
}

/** unsent-stop: it was taken for sent, and could not be; sooner where it is wanted sooner. */
export type Settled = { id: string } & (
  | { keep: false }
  | { keep: true; dueInMs: number; wasSent: boolean }
  | { keep: "unsent-stop"; dueInMs: number }
);

/** It was claimed, and not sent after all. */
export const dueAtOnce = (id: string): Settled => ({ id, keep: true, dueInMs: 0, wasSent: false });

export interface CommandSender {
  /** Whether messages can be sent: connected and not blocked by an alarm. */
  readonly isReady: boolean;
  /** Resolves when they can be. */
  ready(signal: AbortSignal): Promise<void>;
  /**
   * Sends all, waits for the broker's confirms (under an alarm for as long as it lasts), and answers for each in order.
   * Never rejects.
   */
  send(due: DueCommand[]): Promise<SendOutcome[]>;
}
