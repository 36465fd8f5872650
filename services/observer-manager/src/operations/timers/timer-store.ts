import type { TimerId, TimerStatusName, TimerView } from "@unacked/contracts";
import type { Action } from "../access/audit.ts";

/** A timer as it was asked for, checked. Times are ISO 8601. */
export interface NewTimer {
  id: TimerId;
  name: string;
  payload: unknown;
  /** One of these two is given. `inMs` counts from the begin of the transaction that writes it. */
  at?: string | undefined;
  inMs?: number | undefined;
  /** Undefined: nobody said. */
  expiresAt: string | undefined;
}

/** `within`: only a timer whose name begins like one of these may be met; undefined: any. */
export interface TimerPut {
  timer: NewTimer;
  action: Action;
  within?: readonly string[] | undefined;
}

/** `within`: as with a put. */
export interface TimerCancel {
  id: TimerId;
  action: Action;
  within?: readonly string[] | undefined;
}

/** `taken`: it is there, and not within. `in-vain`: it would expire before it is due. */
export type PutOutcome =
  | { kind: "created" | "exists" | "replaced"; timer: TimerView }
  | { kind: "over" | "taken" | "in-vain" };

/** `found`: it was not Waiting, and stays as it is. `not-found`: also what is not within. */
export type CancelOutcome = { kind: "cancelled" | "found"; timer: TimerView } | { kind: "not-found" };

export interface TimerQuery {
  name?: string | undefined;
  statuses?: readonly TimerStatusName[] | undefined;
  limit: number;
  /** How its name begins. */
  prefix?: string | undefined;
  after?: TimerPosition | undefined;
}

export interface TimerPosition {
  createdAtMicros: string;
  id: string;
}

/** What REST does to timers. Each change commits with its entry in the audit trail. */
export interface TimerStore {
  /** Puts all in one transaction, each id once. Answers in the order given. */
  put(puts: TimerPut[]): Promise<PutOutcome[]>;
  find(id: TimerId): Promise<TimerView | undefined>;
  list(
    query: TimerQuery,
  ): Promise<{ items: TimerView[]; total: number; isTotalExact: boolean; last?: TimerPosition | undefined }>;
  /** Cancels all in one transaction, each id once. Answers in the order given. */
  cancel(cancels: TimerCancel[]): Promise<CancelOutcome[]>;
}

export interface FinishedClaim {
  claimId: string;
  /** Those that were confirmed: they are Fired also where the claim was taken over. */
  fired: readonly TimerId[];
}

/** Who claims, and by which claim. */
export interface Claim {
  owner: string;
  claimId: string;
}

/** Which timers are claimed: those that were never returned, as a rule; or those that were, and are tried again. */
export type Tries = "first" | "again";

export interface DueTimer {
  id: TimerId;
  name: string;
  /** It is JSON. */
  payload: string;
  /** In ms since the epoch. */
  atMs: number;
  /** How long it had been due when it was claimed. */
  lateMs: number;
}

/**
 * What became of one that was published. fired: confirmed · returned: no queue took it · refused: a queue did not take it ·
 * too-late: it was not confirmed in time · unknown: the broker went before it was · not-sent: nothing left this process, as the broker was away ·
 * not-tried: likewise, as what was sent to its name before was not taken.
 */
export type FiringOutcome = "fired" | "returned" | "refused" | "too-late" | "unknown" | "not-sent" | "not-tried";

/** Why it is not fired by the claim that it was claimed by. */
export type Unfired = Exclude<FiringOutcome, "fired">;

/** What firing does to timers. Every statement is a transaction of its own, and safe to repeat. */
export interface TimerFiringStore {
  /** Makes what is due Firing, and what is due and has expired Expired; renews the owner's lease with it. `isCut`: more were due, with too long payloads. */
  claim(claim: Claim, limit: number, tries?: Tries): Promise<{ due: DueTimer[]; expired: number; isCut: boolean }>;
  /** Lets go of what was claimed by these, if they were committed: nothing of it was published. */
  disown(claimIds: readonly string[]): Promise<void>;
  /** These are not fired by this claim. What is not this claim's any more stays as it is. */
  giveBack(claimId: string, outcome: Unfired, ids: readonly TimerId[]): Promise<void>;
  /** These were confirmed: they are Fired, whoever has claimed them by now. */
  fired(ids: readonly TimerId[]): Promise<void>;
  /** All that they claimed was confirmed, or is given back: what is left of it is Fired. */
  finish(claims: readonly FinishedClaim[]): Promise<void>;
  /** The time until the next one is due that nobody is firing; null: there is none. */
  nextDueInMs(tries?: Tries): Promise<number | null>;
  renew(owner: string): Promise<void>;
  /** Owners whose lease has run out, and when. Whoever has timers in flight has one. */
  lapsed(): Promise<{ owner: string; leaseUntil: string }[]>;
  /** Marks their timers unsure, and due at once. @returns how many */
  takeOver(owners: readonly string[]): Promise<number>;
  /** It fires no more. What it could not settle is taken over by others. */
  leave(owner: string): Promise<void>;
  /** @returns how many; fewer than `limit`: there are no more */
  forget(olderThanMs: number, limit: number): Promise<number>;
}

export interface TimerCounts {
  byStatus: { status: string; count: number }[];
  /** For how long the one that is due for longest, and was never returned, has been due; 0 without one. */
  oldestDueS: number;
}
