import { z } from "zod";
import { jsonValue } from "../bounds.ts";
import { Checkpoint } from "../checkpoint.ts";
import { FencingToken, Labels, MessageId, ObserverId, Revision, RunId } from "../ids.ts";
import { SpecVersion } from "../observer-spec.ts";
import { RetryPolicy } from "../retry.ts";
import { ToldSilence } from "../silence.ts";
import { RUN_STOP_REASONS } from "../states/states.ts";
import { InventoryProof } from "./queue-marker.ts";
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

/** The fields by which an order names one run. */
const ofRun = { observerId: ObserverId, runId: RunId, messageId: MessageId, revision: Revision };

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
  targets: z.array(z.object({ ...ofRun, reason: RunStopReason })),
});
export type StopRuns = z.infer<typeof StopRuns>;

/** Restart in place: same message, a new run, the old handler settled first (direct, to one service). */
export const RestartRuns = z.object({
  kind: z.literal("RestartRuns"),
  targets: z.array(z.object({ observerId: ObserverId, runId: RunId })),
});
export type RestartRuns = z.infer<typeof RestartRuns>;

/** The spec that a run is to use; the other fields of an observer never change. */
export const AdmittedSpec = z.object({
  params: jsonValue,
  labels: Labels.default({}),
  retry: RetryPolicy,
  silence: ToldSilence.nullish(),
  specVersion: SpecVersion.optional(),
});
export type AdmittedSpec = z.infer<typeof AdmittedSpec>;

/**
 * The handlers of these runs may start, with this and no other spec: the answer to RunRequested, again until RunStarted is heard. A
 * run that the service does not have is answered with RunReleased (direct, to one service).
 */
export const Admit = z.object({
  kind: z.literal("Admit"),
  targets: z.array(
    z.object({
      ...ofRun,
      fencingToken: FencingToken,
      spec: AdmittedSpec,
      /** The checkpoint that it starts with. Absent means none. */
      checkpoint: Checkpoint.optional(),
    }),
  ),
});
export type Admit = z.infer<typeof Admit>;

/**
 * Send the newest checkpoints of these runs again, as the database lacks them. Answered by CheckpointSaved (direct, to one service).
 */
export const TellCheckpoints = z.object({
  kind: z.literal("TellCheckpoints"),
  targets: z.array(z.object(ofRun)),
});
export type TellCheckpoints = z.infer<typeof TellCheckpoints>;

/**
 * The new spec for these runs, which go on running. Answered by RunUpdated, and sent again until that is heard. A run that the service
 * does not have is answered with RunReleased (direct, to one service).
 */
export const UpdateRuns = z.object({
  kind: z.literal("UpdateRuns"),
  targets: z.array(z.object({ ...ofRun, spec: AdmittedSpec.extend({ specVersion: SpecVersion }) })),
});
export type UpdateRuns = z.infer<typeof UpdateRuns>;

/** Answer with one Inventory: everything you run, as one synchronous snapshot. */
export const ReportInventory = z.object({
  kind: z.literal("ReportInventory"),
  /** The answer carries the same proof, and comes only while the lease is held. */
  proof: InventoryProof.optional(),
});
export type ReportInventory = z.infer<typeof ReportInventory>;

/** Says nothing. It is sent mandatory to one generation's queue, and comes back when that generation is dead. */
export const Probe = z.object({ kind: z.literal("Probe") });
export type Probe = z.infer<typeof Probe>;

const ofIntake = {
  /**
   * When a manager began to send it, by PostgreSQL's clock, in ms since 1970. A service ignores an order older than one it has heard: a
   * manager may have been blocked by the broker, or have stood still. Older managers do not send it.
   */
  sentAtMs: z.number().optional(),
};

/**
 * Take no more work, give back what you run, and stay, for as long as this boot lives, over every reconnect. Answered by
 * `draining` in ServiceAlive or ServiceBorn (direct, to one service).
 */
export const Drain = z.object({ kind: z.literal("Drain"), ...ofIntake });
export type Drain = z.infer<typeof Drain>;

/** Take nothing more, but go on with what runs. Answered by `cordoned` in ServiceAlive (direct, to one service). */
export const Cordon = z.object({ kind: z.literal("Cordon"), ...ofIntake });
export type Cordon = z.infer<typeof Cordon>;

/** Take work again, after a Cordon or a Drain: answered by a ServiceAlive that is neither (direct, to one service). */
export const Uncordon = z.object({ kind: z.literal("Uncordon"), ...ofIntake });
export type Uncordon = z.infer<typeof Uncordon>;

/**
 * Give these runs to others: take nothing for a moment, stop them, and give their messages back. Answered by the end of each; a run that
 * the service does not have is answered with RunReleased (direct, to one service).
 */
export const ShedRuns = z.object({
  kind: z.literal("ShedRuns"),
  targets: z.array(z.object(ofRun)),
});
export type ShedRuns = z.infer<typeof ShedRuns>;

/**
 * Take nothing for a moment, so that others get what is shed. It is sent once; if it is not heard, nothing is lost (direct, to one
 * service).
 */
export const StepAside = z.object({ kind: z.literal("StepAside") });
export type StepAside = z.infer<typeof StepAside>;

/**
 * Load your folder again, as at SIGHUP. Answered by ReloadEnded with the same id, and again by the same when it is sent again: the folder is
 * loaded once for an id (direct, to one service).
 */
export const Reload = z.object({ kind: z.literal("Reload"), reloadId: z.uuid() });
export type Reload = z.infer<typeof Reload>;

/**
 * Answer at once with a LogReply: the log of this run after `afterSeq`, the newest `limit` entries. It is never sent again, as the
 * asker has given up by then (direct, to one service).
 */
export const ReadLogs = z.object({
  kind: z.literal("ReadLogs"),
  requestId: z.uuid(),
  /** The routing key on `unacked.replies`. */
  replyTo: z.string().min(1).max(255),
  observerId: ObserverId,
  runId: RunId,
  /** 0 means from the beginning. */
  afterSeq: z.int().min(0),
  limit: z.int().min(0),
});
export type ReadLogs = z.infer<typeof ReadLogs>;

/** What the manager tells services, through `unacked.control` (all) or `unacked.service` (one). */
export const ControlMessage = z.discriminatedUnion("kind", [
  StopObservers,
  StopRuns,
  RestartRuns,
  Admit,
  TellCheckpoints,
  UpdateRuns,
  ReportInventory,
  Probe,
  Drain,
  Cordon,
  Uncordon,
  ShedRuns,
  StepAside,
  Reload,
  ReadLogs,
  CancelTasks,
  ReportTasks,
]);
export type ControlMessage = z.infer<typeof ControlMessage>;
