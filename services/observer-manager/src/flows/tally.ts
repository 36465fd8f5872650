import type { ErrorReport } from "@unacked/contracts";
import type { Command } from "../domain/books.ts";
import type { Happening } from "../domain/happening.ts";

/** Told what was done, so that somebody may count it. It must not throw, and nothing depends on it. */
export interface Tally {
  /** A transaction of the ledger has committed. */
  applied(done: AppliedBatches): void;
  /** One command of this kind was given to the broker. */
  sent(kind: Command["kind"], outcome: "sent" | "gone" | "failed"): void;
  /** Messages were put aside. */
  putAside(reasons: readonly ErrorReport["reason"][]): void;
}

export interface AppliedBatches {
  messages: number;
  /** From the begin of the transaction to its commit. */
  tookMs: number;
  /** The age of the oldest event by its service's clock, at the commit; null without events. */
  oldestEventMs: number | null;
  happened: readonly Happening[];
}
