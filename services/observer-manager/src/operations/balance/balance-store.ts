import type { ObserverView, RebalanceView } from "@unacked/contracts";
import type { BalancedService } from "../../domain/balance/service-load.ts";
import type { Action } from "../access/audit.ts";
import type { ObserverRef } from "../observers/observer-tools.ts";
import type { Refusal } from "../refusal.ts";

/** A service of a pool, with what it runs. */
export interface PoolService extends BalancedService {
  readonly name: string;
  readonly generation: number;
  /** It takes observers: it lives, was not told otherwise, and has memory for more. */
  readonly isOpen: boolean;
  /** Why it neither gives nor takes for now, where nobody has told it to; null: it does, or was told to. */
  readonly restsFor: string | null;
  /** It understands what balancing asks of it. */
  readonly canMove: boolean;
  /** What may change about it while it lives. */
  readonly standing: string;
}

export interface PoolStanding {
  readonly services: readonly PoolService[];
  /**
   * Observers that nobody runs yet, on their way or waiting for a worker, and those that were told to move and have not ended yet; by type.
   */
  readonly awaiting: ReadonlyMap<string, number>;
}

export interface RebalanceRow extends RebalanceView {
  readonly pool: string;
  /** For how long it has waited for its next step, in ms; 0: it does not. */
  readonly waitsForMs: number;
  /** How long ago it has ended, in ms, by the database's clock; 0: it has not. */
  readonly endedAgoMs: number;
}

/** What moves at once, and who takes none of it. */
export interface StepChoice {
  readonly moves: readonly { serviceId: string; type: string; count: number }[];
  /** Services that take nothing while others give. */
  readonly aside: readonly string[];
}

/** What a step of a rebalance comes to. */
export type Step =
  | {
      readonly kind: "move";
      /** The first choice of which anything may move is what moves. */
      readonly choices: readonly StepChoice[];
      /** How many are to move from now on, these included. */
      readonly left: number;
      /** So few are left that nobody would have begun for them: where none of them may move, it is even enough. */
      readonly isNearlyEven: boolean;
    }
  | { readonly kind: "wait"; readonly why: string }
  | { readonly kind: "end"; readonly outcome: "even" | "stalled"; readonly why: string | null };

export interface BalanceStore {
  /** Every pool that has a living service has one. */
  standings(): Promise<ReadonlyMap<string, PoolStanding>>;
  /** The rebalance under way, or the last. */
  lastOf(pool: string): Promise<RebalanceRow | undefined>;
  /** Begins one, unless one is under way; with the action in the audit trail, in one transaction. @returns the one under way */
  begin(asked: { pool: string; by: string; why: string; planned: number }, action?: Action): Promise<RebalanceRow>;
  /** Ends the one under way, if there is one. */
  cancel(pool: string, action: Action): Promise<void>;
  /** Whether the next step of a rebalance is due. Somebody may be taking it just now: that is not asked. */
  isAnyDue(): Promise<boolean>;
  /**
   * Takes, in one transaction, a rebalance whose next step is due, which nobody else takes meanwhile, and writes what `decide` makes of it,
   * with a command for each observer that moves.
   * @returns the pool, and how many were told to move; undefined: none is due
   */
  step(
    decide: (row: RebalanceRow, standing: PoolStanding | undefined) => Step,
  ): Promise<{ pool: string; moved: number } | undefined>;
  /** Moves one observer, in one transaction with the action. */
  moveOne(
    ref: ObserverRef,
    action: Action,
    choose: (observer: ObserverView, standing: PoolStanding | undefined) => Refusal | undefined,
  ): Promise<{ kind: "accepted"; observer: ObserverView } | Refusal>;
}
