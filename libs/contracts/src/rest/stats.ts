import { z } from "zod";
import { OBSERVER_STATUSES } from "../states/observer-status.ts";
import { ObserverStatus } from "../states/states.ts";
import { ADDED_LATER } from "./added-later.ts";

/** Version 0.1.0 did not have these statuses. */
const LATER_STATUSES: ReadonlySet<ObserverStatus> = new Set(["Paused", "Scheduled"]);
const countOf = (status: ObserverStatus): z.ZodInt =>
  LATER_STATUSES.has(status) ? z.int().register(ADDED_LATER, { means: 0 }) : z.int();

export const perStatus = z.object(
  Object.fromEntries(OBSERVER_STATUSES.map((status) => [status, countOf(status)])) as Record<ObserverStatus, z.ZodInt>,
);

export const noneOfEachStatus = () =>
  Object.fromEntries(OBSERVER_STATUSES.map((status) => [status, 0])) as Record<ObserverStatus, number>;

export const PoolStats = z.object({
  pool: z.string(),
  services: z.int().describe("living ones"),
  draining: z.int().describe("how many of these drain, or are cordoned"),
  workers: z
    .int()
    .describe(
      "of those that take work, and as many as are busy on cordoned ones; those of services that drain do not count",
    ),
  occupied: z.int().describe("observers that take, or are about to take, a worker; more than `workers` when some wait"),
  desired: z
    .int()
    .describe("workers that would suffice for all observers of the pool even if the service with the most workers died"),
  free: z.int(),
  silent: z
    .int()
    .describe("observers that run, and have had no beat for longer than their silence.warnAfterMs")
    .register(ADDED_LATER, { means: 0 }),
  survivesLargestService: z
    .boolean()
    .describe("if the service with the most workers died, the others' workers would suffice for all observers of the pool"),
});
export type PoolStats = z.infer<typeof PoolStats>;

export const QueueDepth = z.object({
  queue: z.string(),
  ready: z.int().describe("messages that nobody holds; a marker of the manager's own does not count"),
  consumers: z.int(),
});
export type QueueDepth = z.infer<typeof QueueDepth>;

export const WARNING_CODES = [
  "broker-cuts-jobs",
  "broker-trouble",
  "broker-away",
  "broker-blocks",
  "books-blocked",
  "file-not-loaded",
  "slots-die",
  "queue-refused",
  "no-service",
  "all-draining",
  "no-free-worker",
  "type-not-served",
  "observers-silent",
  "observers-restart",
  "service-suspect",
  "service-gone",
  "same-service-name",
  "state-queue-behind",
  "long-snapshot",
  "timers-unheard",
  "queue-unwanted",
  "broker-takes-back",
  "pool-uneven",
  "would-not-survive",
] as const;

/** Something an operator should know, with what to do about it. The code is stable. */
export const Warning = z
  .object({
    code: z.enum(WARNING_CODES),
    subject: z.string().describe("the pool or service it is about"),
    message: z.string(),
    remedy: z.string(),
  })
  .meta({ id: "Warning" });
export type Warning = z.infer<typeof Warning>;

/** GET /stats */
export const Stats = z
  .object({
    observers: z.object({
      total: z.int(),
      byStatus: perStatus,
      byType: z.array(z.object({ type: z.string(), total: z.int(), byStatus: perStatus })),
    }),
    workers: z.object({ total: z.int(), free: z.int(), byPool: z.array(PoolStats) }),
    survivesLargestService: z.boolean().describe("true when every pool does"),
    warnings: z.array(Warning).describe("what is wrong now, the worst first"),
    queues: z.array(QueueDepth).nullable().describe("null while the broker cannot be asked"),
    stateQueueLag: z
      .int()
      .nullable()
      .describe("batches of events that wait to be applied; null while the broker cannot be asked"),
    oldestWaiting: z
      .object({ id: z.uuid(), name: z.string(), status: ObserverStatus, since: z.iso.datetime(), waitingMs: z.int() })
      .nullable()
      .describe(
        "the observer that has been Created or Redistributing for longest, or Scheduled since a time at which it found no worker",
      ),
  })
  .meta({ id: "Stats" });
export type Stats = z.infer<typeof Stats>;

export const ReadinessCheck = z.object({
  ok: z.boolean(),
  detail: z.string(),
  remedy: z.string().optional().describe("what the operator should do, where known"),
});
export type ReadinessCheck = z.infer<typeof ReadinessCheck>;

/** GET /readyz: 200 when ready, else 503, with the same body. */
export const Readiness = z
  .object({ ready: z.boolean(), checks: z.record(z.string(), ReadinessCheck) })
  .meta({ id: "Readiness" });
export type Readiness = z.infer<typeof Readiness>;
