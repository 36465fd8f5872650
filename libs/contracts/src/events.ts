import { z } from "zod";
import { MessageId, ObserverId, PoolName, Revision, RunId, ServiceId, ServiceName, TypeName } from "./ids.ts";
import { RUN_STOPPED_REASONS } from "./states.ts";
import { TraceContext } from "./trace-context.ts";

/** Wall clock of the service in ms since the epoch. For display only: what is due, late or dead is PostgreSQL's clock. */
const at = z.int().min(0);

const runIdentity = { observerId: ObserverId, runId: RunId, messageId: MessageId, revision: Revision, at };

/** An error as data: no stack leaves the service's own log. */
export const ErrorText = z.object({ name: z.string().max(256), message: z.string().max(16_384) });
export type ErrorText = z.infer<typeof ErrorText>;

/** Also sent again for the same run when a retry begins (attempt ≥ 2) and when a run got its attempts back (attempt 1). */
export const RunStarted = z.object({
  kind: z.literal("RunStarted"),
  ...runIdentity,
  attempt: z.int().min(1),
  /** Of the handler's start. */
  traceContext: TraceContext.optional(),
});
export type RunStarted = z.infer<typeof RunStarted>;

/** The handler threw; the run waits `delayMs` and tries again, its message still unacked. */
export const RunRetrying = z.object({
  kind: z.literal("RunRetrying"),
  ...runIdentity,
  /** How many attempts have failed. */
  attempt: z.int().min(1),
  error: ErrorText,
  delayMs: z.number().min(0),
});
export type RunRetrying = z.infer<typeof RunRetrying>;

/** The answer of a run told `superseded` that still holds that very message on a live channel. */
export const RunHeld = z.object({ kind: z.literal("RunHeld"), ...runIdentity });
export type RunHeld = z.infer<typeof RunHeld>;

/**
 * The run was told to stop and its handler has settled (or the service never had it). Its message is acked once this
 * event is confirmed, except for `restarted` (the message stays, a new run follows) and `superseded` (not its message any more).
 */
export const RunStopped = z.object({
  kind: z.literal("RunStopped"),
  ...runIdentity,
  reason: z.enum(RUN_STOPPED_REASONS),
  /** Of the order that it follows. */
  traceContext: TraceContext.optional(),
});
export type RunStopped = z.infer<typeof RunStopped>;

export const RunFailed = z.object({
  kind: z.literal("RunFailed"),
  ...runIdentity,
  attempts: z.int().min(0),
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
});
export type RunReleased = z.infer<typeof RunReleased>;

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
  description: z.string().max(1_000).default(""),
  /** JSON Schema (draft 2020-12) of the type's params; `{}` accepts everything. */
  paramsSchema: z.record(z.string(), z.unknown()),
});
export type ObserverTypeInfo = z.infer<typeof ObserverTypeInfo>;

/** How a service lost its last broker session, when there is something that an operator can do about it. */
export const BrokerLoss = z.object({
  kind: z.string().max(64),
  detail: z.string().max(2_000),
  remedy: z.string().max(2_000),
});
export type BrokerLoss = z.infer<typeof BrokerLoss>;

/** It takes nothing any more and gives back what it runs: it was told to drain, or its process is about to end. */
const draining = z.boolean().default(false);

/** The first event of each generation: what this service is. */
export const ServiceBorn = z.object({
  kind: z.literal("ServiceBorn"),
  at,
  pool: PoolName,
  workerCount: z.int().min(1).max(65_535),
  types: z.array(ObserverTypeInfo).max(1_000),
  version: z.string().max(64),
  host: z.string().max(255),
  pid: z.int().min(0),
  heartbeatMs: z.int().min(1),
  draining,
  /** Why the generation before this one ended, if that has a remedy. */
  brokerLoss: BrokerLoss.optional(),
});
export type ServiceBorn = z.infer<typeof ServiceBorn>;

/** Every 5 s, and whenever it begins or has ended to drain. */
export const ServiceAlive = z.object({
  kind: z.literal("ServiceAlive"),
  at,
  workerCount: z.int().min(1),
  running: z.int().min(0),
  memoryBytes: z.number().min(0),
  eventLoopLagMs: z.number().min(0),
  draining,
});
export type ServiceAlive = z.infer<typeof ServiceAlive>;

/** The last event of a boot: drained, or fenced for good. */
export const ServiceDied = z.object({ kind: z.literal("ServiceDied"), at, reason: z.string().max(1_000) });
export type ServiceDied = z.infer<typeof ServiceDied>;

export const InventoryRun = z.object({
  observerId: ObserverId,
  runId: RunId,
  messageId: MessageId,
  revision: Revision,
  attempt: z.int().min(1),
});
export type InventoryRun = z.infer<typeof InventoryRun>;

/** One synchronous snapshot of everything that runs, in `parts` chunks of one inventoryId, none missing, in order. */
export const Inventory = z.object({
  kind: z.literal("Inventory"),
  at,
  inventoryId: z.uuid(),
  part: z.int().min(1),
  parts: z.int().min(1),
  runs: z.array(InventoryRun).max(5_000),
});
export type Inventory = z.infer<typeof Inventory>;

export const ServiceEvent = z.discriminatedUnion("kind", [
  ServiceBorn,
  ServiceAlive,
  ServiceDied,
  RunStarted,
  RunRetrying,
  RunHeld,
  RunStopped,
  RunFailed,
  RunCompleted,
  RunReleased,
  StartRefused,
  DuplicateDropped,
  Inventory,
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
  generation: z.int().min(1),
  /** Counts up by one per batch and boot, over all generations. Starts at 1. */
  seq: z.int().min(1),
  events: z.array(ServiceEvent).min(1),
});
export type EventBatch = z.infer<typeof EventBatch>;

/**
 * Manager → state queue: that generation's control queue did not exist when it was probed, so its connection is gone.
 * It travels through the state queue to apply behind everything the service said before.
 */
export const DeathCertificate = z.object({
  kind: z.literal("DeathCertificate"),
  serviceId: ServiceId,
  generation: z.int().min(1),
});
export type DeathCertificate = z.infer<typeof DeathCertificate>;

/** Everything that may stand in the state queue. */
export const StateMessage = z.discriminatedUnion("kind", [EventBatch, DeathCertificate]);
export type StateMessage = z.infer<typeof StateMessage>;
