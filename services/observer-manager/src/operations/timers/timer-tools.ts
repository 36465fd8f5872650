import type { CreateTimer, TimerId, TimerPage, TimerView } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import type { Refusal } from "../refusal.ts";
import type { TimerQuery } from "./timer-store.ts";

export type TimerPutOutcome = { kind: "created" | "exists" | "replaced"; timer: TimerView } | Refusal;

export type TimerCancelOutcome = { kind: "cancelled"; timer: TimerView } | Refusal;

/** What REST asks of timers. Each answer is given after the commit, and who did it stands in the audit trail by the same transaction. */
export interface TimerTools {
  /** In the order given, each id once. Problems: timer-over, body-too-large, invalid-body. */
  putTimers(requests: (CreateTimer | Refusal)[], by: Actor): Promise<TimerPutOutcome[]>;
  findTimer(id: TimerId): Promise<TimerView | undefined>;
  listTimers(query: TimerQuery): Promise<TimerPage>;
  /** Problems: timer-not-found, already-fired, timer-over. */
  cancelTimer(id: TimerId, by: Actor): Promise<TimerCancelOutcome>;
}
