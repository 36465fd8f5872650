import { z } from "zod";
import { MessageId, ObserverId, Revision, RunId } from "./ids.ts";
import { InventoryProof } from "./queue-marker.ts";
import { RUN_STOP_REASONS } from "./states.ts";
import { CancelTasks, ReportTasks } from "./task-orders.ts";

/**
 * Why one run (not the observer) is told to stop. `superseded` is the only one a run may refuse: one that still holds
 * that message on a live channel answers RunHeld. `taken-back`: the broker has given its message to another since, without
 * a word to the one that had it, and has taken every message of that connection: its lease is lost, and each run answers
 * RunReleased. It is said only of runs whose delivery count is known, so that 0.1.0 never hears it. All the others end with the
 * message acked; `unknown` (the books do not have the observer) after it was put to the errors, whole, as nobody else has it.
 */
export const RunStopReason = z.enum(RUN_STOP_REASONS);
export type RunStopReason = z.infer<typeof RunStopReason>;

/**
 * Stop observers, wherever they run (fanout). A service that does not have one remembers {observerId, revision} and
 * refuses a start of that revision or lower, so a stop that overtook its start is not lost.
 */
export const StopObservers = z.object({
  kind: z.literal("StopObservers"),
  targets: z.array(z.object({ observerId: ObserverId, revision: Revision })),
});
export type StopObservers = z.infer<typeof StopObservers>;

/** Stop exactly these runs (direct, to one service). A run that the service does not have is answered with RunStopped. */
export const StopRuns = z.object({
  kind: z.literal("StopRuns"),
  targets: z.array(
    z.object({ observerId: ObserverId, runId: RunId, messageId: MessageId, revision: Revision, reason: RunStopReason }),
  ),
});
export type StopRuns = z.infer<typeof StopRuns>;

/** Restart in place: same message, a new run, the old handler settled first (direct, to one service). */
export const RestartRuns = z.object({
  kind: z.literal("RestartRuns"),
  targets: z.array(z.object({ observerId: ObserverId, runId: RunId })),
});
export type RestartRuns = z.infer<typeof RestartRuns>;

/** Answer with one Inventory: everything you run, as one synchronous snapshot. */
export const ReportInventory = z.object({
  kind: z.literal("ReportInventory"),
  /** Answered with the same, and only while the lease is held. */
  proof: InventoryProof.optional(),
});
export type ReportInventory = z.infer<typeof ReportInventory>;

/** Says nothing; sent mandatory to one generation's queue, it comes back when that generation is dead. */
export const Probe = z.object({ kind: z.literal("Probe") });
export type Probe = z.infer<typeof Probe>;

/**
 * Take no more work, give back what you run, and stay: for as long as this boot lives, over every reconnect. Answered by
 * `draining` in ServiceAlive or ServiceBorn (direct, to one service).
 */
export const Drain = z.object({ kind: z.literal("Drain") });
export type Drain = z.infer<typeof Drain>;

/**
 * Answer at once with a LogReply: what this run has said since `afterSeq`, the newest `limit` of it. Never sent again: the one that
 * asked has given up by then (direct, to one service).
 */
export const ReadLogs = z.object({
  kind: z.literal("ReadLogs"),
  requestId: z.uuid(),
  /** The routing key on `unacked.replies`. */
  replyTo: z.string().min(1).max(255),
  observerId: ObserverId,
  runId: RunId,
  /** 0: from the beginning. */
  afterSeq: z.int().min(0),
  limit: z.int().min(0),
});
export type ReadLogs = z.infer<typeof ReadLogs>;

/** What the manager tells services, through `unacked.control` (all) or `unacked.service` (one). */
export const ControlMessage = z.discriminatedUnion("kind", [
  StopObservers,
  StopRuns,
  RestartRuns,
  ReportInventory,
  Probe,
  Drain,
  ReadLogs,
  CancelTasks,
  ReportTasks,
]);
export type ControlMessage = z.infer<typeof ControlMessage>;
