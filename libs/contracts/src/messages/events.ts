import { z } from "zod";
import { amount, count, jsonValue, keptJsonSchema, MAX_INT4, shownText, wallClockMs } from "../bounds.ts";
import { Checkpoint } from "../checkpoint.ts";
import { FencingToken, MessageId, ObserverId, PoolName, Revision, RunId, ServiceId, ServiceName, TypeName } from "../ids.ts";
import { SpecVersion } from "../observer-spec.ts";
import { ToldSilence } from "../silence.ts";
import { RUN_STOPPED_REASONS, type RunEndReason } from "../states/states.ts";
import { MAX_STACK, MAX_UPDATE_REASON } from "../text-lengths.ts";
import { MAX_TYPES } from "./announced-types.ts";
import { BrokenFile, MAX_BROKEN_FILES } from "./broken-file.ts";
import { MAX_LISTED } from "./decode-list.ts";
import { AnnouncedFeatures } from "./features.ts";
import { InventoryProof, StateMarker } from "./queue-marker.ts";
import { MAX_SLOT_REPORTS, SlotDeaths, SlotReport } from "./slot-report.ts";
import { TraceContext } from "./trace-context.ts";

/**
 * Wall clock of the service in ms since the epoch. For display only: PostgreSQL's clock decides what is due, late or dead.
 */
const at = wallClockMs;

const runIdentity = { observerId: ObserverId, runId: RunId, messageId: MessageId, revision: Revision, at };

/** An error as data. */
export const ErrorText = z.object({
  name: shownText(256),
  message: shownText(16_384),
  /** Where the error was thrown: positions in code, one a line, the innermost first, without the message. */
  stack: shownText(MAX_STACK).optional(),
});
export type ErrorText = z.infer<typeof ErrorText>;

/**
 * Grows whenever the broker gives the message out again. It is 0 the first time, and always if the queue does not count
 * (classic). Of two runs of one message the one with more came later, whichever was heard first. Not sent by 0.1.0.
 */
const deliveryCount = count(0).optional();

/** The fencing token of an admitted run: see Admit. */
const fencingToken = FencingToken.optional();

/** For a run whose type saves checkpoints: the number of the newest one that it has saved or was given; 0 means none. */
const checkpointNumber = count(0).optional();

/** A run has saved how far it has got. Its fencing token is sent, too, as it tells runs apart where their checkpoints are compared. */
export const CheckpointSaved = z.object({
  kind: z.literal("CheckpointSaved"),
  ...runIdentity,
  fencingToken: FencingToken,
  ...Checkpoint.shape,
});
export type CheckpointSaved = z.infer<typeof CheckpointSaved>;

/**
 * A run of an admitted type has its turn, and asks whether its handler may start. Answered by Admit or by a stop. Sent again by a
 * run that is told `superseded` and still holds its message.
 */
export const RunRequested = z.object({ kind: z.literal("RunRequested"), ...runIdentity, deliveryCount });
export type RunRequested = z.infer<typeof RunRequested>;

/** The spec version of its message. Services that do not know it leave it out. */
const specVersion = SpecVersion.optional();

/**
 * For how long it has had no beat, if that is longer than its `warnAfterMs`. Absent means that it has had one, or that
 * nobody watches.
 */
const quietForMs = amount.optional();

/**
 * Also sent again for the same run when a retry begins (attempt ≥ 2), when a run got its attempts back (attempt 1), when it has
 * become silent and when it is heard again.
 */
export const RunStarted = z.object({
  kind: z.literal("RunStarted"),
  ...runIdentity,
  attempt: count(1),
  deliveryCount,
  quietForMs,
  specVersion,
  fencingToken,
  checkpointNumber,
  /** The trace context of the handler's start. */
  traceContext: TraceContext.optional(),
});
export type RunStarted = z.infer<typeof RunStarted>;

/** How a run takes a changed spec: see UpdateRuns. */
export const UPDATE_OUTCOMES = ["applied", "restart", "rejected"] as const;

/**
 * `applied`: it runs by this version of the spec · `restart`: it begins again with it, which follows · `rejected`: it goes on with its
 * old params, while all else of that version applies. Sent again when it is asked again.
 */
export const RunUpdated = z.object({
  kind: z.literal("RunUpdated"),
  ...runIdentity,
  specVersion: SpecVersion,
  outcome: z.enum(UPDATE_OUTCOMES),
  reason: shownText(MAX_UPDATE_REASON).optional(),
  /** For `rejected`: what it goes on with. */
  keeps: z.object({ params: jsonValue, specVersion: SpecVersion }).optional(),
});
export type RunUpdated = z.infer<typeof RunUpdated>;

/** The handler threw; the run waits `delayMs` and tries again, its message still unacked. */
export const RunRetrying = z.object({
  kind: z.literal("RunRetrying"),
  ...runIdentity,
  /** How many attempts have failed. */
  attempt: count(1),
  error: ErrorText,
  delayMs: z.number().min(0).max(MAX_INT4),
});
export type RunRetrying = z.infer<typeof RunRetrying>;

/** The answer of a run told `superseded` that still holds that very message on a live channel. */
export const RunHeld = z.object({
  kind: z.literal("RunHeld"),
  ...runIdentity,
  deliveryCount,
  fencingToken,
  checkpointNumber,
  specVersion,
});
export type RunHeld = z.infer<typeof RunHeld>;

/** The bound of an interruption's text, in characters. */
export const MAX_INTERRUPTION = 600;

/**
 * The run was told to stop and its handler has settled (or the service never had it). Its message is acked once this
 * event is confirmed, except for `restarted` (the message stays, a new run follows) and `superseded` (not its message any more).
 */
export const RunStopped = z.object({
  kind: z.literal("RunStopped"),
  ...runIdentity,
  reason: z.enum(RUN_STOPPED_REASONS),
  /** For a run that began again through no fault of its own: what ended it, and who did that, if known. */
  interruption: shownText(MAX_INTERRUPTION).optional(),
  /** The trace context of the order that it follows. */
  traceContext: TraceContext.optional(),
});
export type RunStopped = z.infer<typeof RunStopped>;

export const RunFailed = z.object({
  kind: z.literal("RunFailed"),
  ...runIdentity,
  attempts: count(0),
  error: ErrorText,
});
export type RunFailed = z.infer<typeof RunFailed>;

export const RunCompleted = z.object({ kind: z.literal("RunCompleted"), ...runIdentity });
export type RunCompleted = z.infer<typeof RunCompleted>;

/** The run ended without the observer being over: its message goes (or went) back to the broker. */
export const RunReleased = z.object({
  kind: z.literal("RunReleased"),
  ...runIdentity,
  reason: z.enum(["draining", "lease-lost"]),
  /** It was shed, so that others run it. */
  moved: z.literal(true).optional(),
  /** The folder of its service has its type no more. */
  typeGone: z.literal(true).optional(),
});
export type RunReleased = z.infer<typeof RunReleased>;

/** Why the run has ended by it. What older managers do not know is told beside the reason. */
export const reasonOfRelease = ({ reason, moved, typeGone }: RunReleased): RunEndReason =>
  typeGone === true ? "type-gone" : moved === true ? "moved" : reason;

/** A start that was not run: its message is acked once this is confirmed. */
export const StartRefused = z.object({
  kind: z.literal("StartRefused"),
  observerId: ObserverId,
  messageId: MessageId,
  revision: Revision,
  at,
  /** `stopped`: a stop of this revision was here first · `unknown-type`: this service does not have the type (a rolling deploy). */
  reason: z.enum(["stopped", "unknown-type"]),
});
export type StartRefused = z.infer<typeof StartRefused>;

/** A second message of a revision that already runs here; the newcomer is acked once this is confirmed. */
export const DuplicateDropped = z.object({
  kind: z.literal("DuplicateDropped"),
  observerId: ObserverId,
  messageId: MessageId,
  revision: Revision,
  at,
  keptRunId: RunId,
});
export type DuplicateDropped = z.infer<typeof DuplicateDropped>;

export const ObserverTypeInfo = z.object({
  type: TypeName,
  description: shownText(1_000).default(""),
  /** JSON Schema (draft 2020-12) of the type's params; `{}` accepts everything. */
  paramsSchema: keptJsonSchema,
  /** The limits for observers of the type that have none of their own. */
  silence: ToldSilence.optional(),
  /** Absent means that its handlers start when the message arrives. */
  start: z.literal("admitted").optional(),
  /** It takes new params while it runs. */
  onUpdate: z.literal(true).optional(),
  /** JSON Schema of what its runs save. Absent means that they save nothing. */
  checkpointSchema: keptJsonSchema.optional(),
});
export type ObserverTypeInfo = z.infer<typeof ObserverTypeInfo>;

/** How a service lost its last broker session, when there is something that an operator can do about it. */
export const BrokerLoss = z.object({
  kind: shownText(64),
  detail: shownText(2_000),
  remedy: shownText(2_000),
});
export type BrokerLoss = z.infer<typeof BrokerLoss>;

/** It takes nothing more and gives back what it runs: it was told to drain, or its process is about to end. */
const draining = z.boolean().default(false);

/** It takes nothing more, but goes on with what it runs. */
const cordoned = z.boolean().optional();

/** The first event of each generation: what this service is. */
export const ServiceBorn = z.object({
  kind: z.literal("ServiceBorn"),
  at,
  pool: PoolName,
  workerCount: z.int().min(1).max(65_535),
  types: z.array(ObserverTypeInfo).max(MAX_TYPES),
  version: shownText(64),
  host: shownText(255),
  pid: count(0),
  heartbeatMs: count(1),
  draining,
  cordoned,
  /** Why the generation before ended, if there is a remedy for that. */
  brokerLoss: BrokerLoss.optional(),
  /** Some of FEATURES. A service of 0.1.0 sends none. */
  features: AnnouncedFeatures.default([]),
  /** The first files whose types it lacks. All are in its log. */
  brokenFiles: z.array(BrokenFile).max(MAX_BROKEN_FILES).optional(),
});
export type ServiceBorn = z.infer<typeof ServiceBorn>;

/** Types beyond this number, which a service may have had since its boot by reloads, are not counted. */
const MAX_COUNTED_TYPES = 2_000;

const firstCounted = (told: unknown): unknown => {
  if (typeof told !== "object" || told === null) return told;
  const entries = Object.entries(told);
  return entries.length > MAX_COUNTED_TYPES ? Object.fromEntries(entries.slice(0, MAX_COUNTED_TYPES)) : told;
};

/** Sent every 5 s, and whenever it begins or has ended to drain. */
export const ServiceAlive = z.object({
  kind: z.literal("ServiceAlive"),
  at,
  workerCount: count(1).max(65_535),
  running: count(0),
  memoryBytes: amount,
  eventLoopLagMs: amount,
  draining,
  cordoned,
  /** Sent if observers run in slots: the first of these. */
  slots: z.array(SlotReport).max(MAX_SLOT_REPORTS).optional(),
  /** The last deaths of slots, the newest first. */
  slotDeaths: SlotDeaths.optional(),
  /** How many slots ended unwanted in the last 10 minutes. */
  slotDeathsLately: count(0).optional(),
  /** Whether it takes observers from the work queue now. */
  consuming: z.boolean().optional(),
  /** Why it does not, if memory is short. */
  notConsuming: shownText(500).optional(),
  /** By type, how many values its observers have emitted since its boot and the broker has accepted. */
  emits: z.preprocess(firstCounted, z.record(TypeName, z.int().min(0))).optional(),
});
export type ServiceAlive = z.infer<typeof ServiceAlive>;

/** The last event of a boot: drained, or fenced for good. */
export const ServiceDied = z.object({ kind: z.literal("ServiceDied"), at, reason: shownText(1_000) });
export type ServiceDied = z.infer<typeof ServiceDied>;

/**
 * What became of a Reload. `loaded`: types have new code, or are new, or gone · `unchanged`: all is as it was · `refused`:
 * the old code stays in use.
 */
export const RELOAD_OUTCOMES = ["loaded", "unchanged", "refused"] as const;
export type ReloadOutcome = (typeof RELOAD_OUTCOMES)[number];

/** How long the reason of a refused reload may be, in characters. */
export const MAX_RELOAD_REASON = 4_000;

/** The types whose code has changed in one way. Absent means none. */
const someTypes = z.array(TypeName).max(2_000).optional();

/** The answer to Reload, sent again when it is asked again. Runs of changed types then begin again with the new code. */
export const ReloadEnded = z.object({
  kind: z.literal("ReloadEnded"),
  at,
  reloadId: z.uuid(),
  outcome: z.enum(RELOAD_OUTCOMES),
  changed: someTypes,
  added: someTypes,
  gone: someTypes,
  /** Why it was refused. */
  why: shownText(MAX_RELOAD_REASON).optional(),
  /** For a refused reload: the first files at fault, if these are known. */
  brokenFiles: z.array(BrokenFile).max(MAX_BROKEN_FILES).optional(),
});
export type ReloadEnded = z.infer<typeof ReloadEnded>;

export const InventoryRun = z.object({
  observerId: ObserverId,
  runId: RunId,
  messageId: MessageId,
  revision: Revision,
  attempt: count(1),
  deliveryCount,
  quietForMs,
  specVersion,
  fencingToken,
  checkpointNumber,
  /** Its handler has not begun, so this counts as RunRequested. */
  requested: z.boolean().optional(),
});
export type InventoryRun = z.infer<typeof InventoryRun>;

/** One synchronous snapshot of everything that runs, in `parts` chunks of one inventoryId, none missing, in order. */
export const Inventory = z.object({
  kind: z.literal("Inventory"),
  at,
  inventoryId: z.uuid(),
  part: count(1),
  parts: count(1),
  runs: z.array(InventoryRun).max(5_000),
  /** The proof that asked for it, if one did. The lease was held, and the deliveries before it had arrived. */
  proof: InventoryProof.optional(),
  /**
   * Whose messages it gave back to the queue, unrun or at the end of a run, and how long ago. They are in the queue, or
   * were.
   */
  givenBack: z
    .array(z.object({ observerId: ObserverId, agoMs: z.number().min(0).max(1e9) }))
    .max(20_000)
    .optional(),
  /** Sent here too, so that it is known no later than what the service no longer holds. */
  draining: z.boolean().optional(),
});
export type Inventory = z.infer<typeof Inventory>;

/** The marker of a work queue has come out of it; its message is acked once this is confirmed. */
export const MarkerSeen = z.object({ kind: z.literal("MarkerSeen"), at, markerId: z.uuid().toLowerCase() });
export type MarkerSeen = z.infer<typeof MarkerSeen>;

export const ServiceEvent = z.discriminatedUnion("kind", [
  ServiceBorn,
  ServiceAlive,
  ServiceDied,
  RunRequested,
  RunStarted,
  CheckpointSaved,
  RunUpdated,
  RunRetrying,
  RunHeld,
  RunStopped,
  RunFailed,
  RunCompleted,
  RunReleased,
  StartRefused,
  DuplicateDropped,
  Inventory,
  MarkerSeen,
  ReloadEnded,
]);
export type ServiceEvent = z.infer<typeof ServiceEvent>;
export type RunEndEvent = RunStopped | RunFailed | RunCompleted | RunReleased;

/** One message of the state queue: numbered per service, one in flight, so order and `seq` cannot part. */
export const EventBatch = z.object({
  kind: z.literal("EventBatch"),
  serviceId: ServiceId,
  serviceName: ServiceName,
  pool: PoolName,
  workerCount: z.int().min(1).max(65_535),
  generation: count(1),
  /** Counts up by one per batch and boot, over all generations. Starts at 1. */
  seq: z.int().min(1),
  /** Empty if all were left out when it was decoded. */
  events: z.array(ServiceEvent).max(MAX_LISTED),
});
export type EventBatch = z.infer<typeof EventBatch>;

/**
 * Manager → state queue: the generation's control queue did not exist when it was probed, so its connection is gone. It
 * travels through the state queue so that it applies after everything the service said before.
 */
export const DeathCertificate = z.object({
  kind: z.literal("DeathCertificate"),
  serviceId: ServiceId,
  generation: count(1),
});
export type DeathCertificate = z.infer<typeof DeathCertificate>;

/** Everything that may stand in the state queue. */
export const StateMessage = z.discriminatedUnion("kind", [EventBatch, DeathCertificate, StateMarker]);
export type StateMessage = z.infer<typeof StateMessage>;
