import { randomUUID } from "node:crypto";
import type { MessageId, ObserverId, RunId } from "@unacked/contracts";

/** A run of that observer as its events name it, long ago. */
export const runOf = (observerId: string) => ({
  observerId: observerId as ObserverId,
  runId: randomUUID() as RunId,
  messageId: randomUUID() as MessageId,
  revision: 1,
  at: 1_000,
});
