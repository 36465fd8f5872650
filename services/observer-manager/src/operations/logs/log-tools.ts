import type { LogEvent, ObserverLogs, RunId } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import type { ObserverRef } from "../observers/observer-tools.ts";
import type { Refusal } from "../refusal.ts";

export interface LogTools {
  /** The newest `limit` of what is kept. Problems: observer-not-found, logs-unavailable. */
  readLogs(ref: ObserverRef, query: { limit: number }): Promise<{ kind: "logs"; logs: ObserverLogs } | Refusal>;

  /**
   * The same and what comes after, or all that came after a place. Problems: observer-not-found, too-many-log-streams, logs-unavailable.
   */
  followLogs(
    ref: ObserverRef,
    from: { limit: number; after?: LogPosition | undefined },
    by: Actor,
  ): Promise<LogStream | Refusal>;
}

export interface LogStream {
  kind: "stream";
  /** Until the signal aborts or the observer is over. An event with a place is one to go on from. */
  events(signal: AbortSignal): AsyncIterable<LogEvent & { after?: LogPosition }>;
}

/** A client has seen what a run said up to here. */
export interface LogPosition {
  runId: RunId;
  seq: number;
}
