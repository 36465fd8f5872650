import type { QueueDepth } from "@unacked/contracts";
import type { QueueBroker, QueueTrouble, UnwantedQueue } from "../../domain/overview/facts.ts";

/** What the broker says of the queues at this moment. */
export interface QueuesNow {
  /**
   * Depths of the queues of the pools that were asked for and can be had, of the unwanted ones, of the state queues of observers and tasks,
   * and of the error queue.
   */
  depths: QueueDepth[];
  troubles: readonly QueueTrouble[];
  unwanted: readonly UnwantedQueue[];
  broker: QueueBroker;
  /** Nothing that is published is taken: a memory or disk alarm. */
  isBlocked: boolean;
}

/** Null while the broker cannot be asked. Must not take long. */
export type AskQueues = (pools: string[]) => Promise<QueuesNow | null>;

/** A queue at this moment. */
export interface QueueCounts {
  /** Messages that nobody holds. */
  ready: number;
  consumers: number;
}

export type Removal = { kind: "removed"; messages: number } | { kind: "gone" } | { kind: "in-use" };

export interface PoolQueues {
  /** False while the broker is away. */
  readonly isUp: boolean;
  /** Declares the queues of these pools, again too, and forgets the others. Never rejects: what is refused is in the warnings. */
  keep(pools: readonly string[]): Promise<void>;
  look(pool: string): Promise<QueueCounts | "gone">;
  /** Removes it in one step where the broker can. It never removes one that has a consumer. */
  remove(pool: string, only: { ifEmpty: boolean }): Promise<Removal>;
  /** Shows the queues that nobody wants and that are there all the same, for the warnings. */
  showUnwanted(unwanted: readonly ({ pool: string } & QueueCounts)[]): void;
}
