import type { LogReply, LogRun, ObserverId, ObserverStatus, ObserverView, RunId, ServiceId } from "@unacked/contracts";
import type { ObserverRef } from "../observers/observer-tools.ts";

export type PlacedRun = LogRun & { id: RunId; service: { id: ServiceId } };

/** Where an observer runs, or ran last. */
export interface LogPlace {
  observer: { id: ObserverId; name: string };
  status: ObserverStatus;
  run: (PlacedRun & { generation: number; serviceIsLiving: boolean }) | null;
  lastError: ObserverView["lastError"];
}

export interface LogPlaces {
  find(ref: ObserverRef): Promise<LogPlace | undefined>;
}

export interface LogQuestion {
  serviceId: ServiceId;
  generation: number;
  observerId: ObserverId;
  runId: RunId;
  afterSeq: number;
  limit: number;
}

export type LogAnswer = LogReply | "gone" | "no-answer" | "no-broker";

export interface LogReader {
  /**
   * Asks one service once. `gone`: that generation's connection is · `no-answer`: not within a moment · `no-broker`: it
   * could not be asked. Never rejects.
   */
  ask(question: LogQuestion): Promise<LogAnswer>;
}
