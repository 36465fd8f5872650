import { z } from "zod";
import { BrokerLoss } from "./events.ts";
import { DEFAULT_POOL, Labels, ObserverId, ObserverName, PoolName, TypeName } from "./ids.ts";
import { DEFAULT_RETRY, RetryPolicy } from "./retry.ts";
import { ObserverStatus, RunEndReason, ServiceState } from "./states.ts";

/** A body over this is answered 413. */
export const MAX_REQUEST_BODY_BYTES = 262_144;

/** What the REST API answers with: ISO 8601, UTC, milliseconds. */
const Timestamp = z.iso.datetime().describe("ISO 8601, UTC");

export const WhenFull = z.enum(["reject", "queue"]);
export type WhenFull = z.infer<typeof WhenFull>;

/** POST /observers. Strict: an unknown key is an error that names it. */
export const CreateObserver = z
  .strictObject({
    name: ObserverName,
    type: TypeName,
    params: z.unknown().default({}).describe("any JSON value; checked by the type's schema where a live service knows it"),
    id: ObserverId.optional().describe("chosen by the client: makes the request safe to repeat"),
    pool: PoolName.default(DEFAULT_POOL),
    labels: Labels.default({}),
    retry: RetryPolicy.default(DEFAULT_RETRY),
    whenFull: WhenFull.default("reject").describe("`reject`: 503 when no worker is free · `queue`: accepted, waits for one"),
  })
  .meta({ id: "CreateObserver" });
export type CreateObserver = z.infer<typeof CreateObserver>;

/** An error of a handler, as kept in the books. */
export const LastError = z.object({
  name: z.string(),
  message: z.string(),
  group: z.string().describe("what errors of one cause have in common: a filter of the list, and of GET /stats/errors"),
  at: Timestamp.nullable(),
});

export const ObserverView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    type: z.string(),
    params: z
      .unknown()
      .refine((params): boolean => params !== undefined) // always there; of `unknown` alone the document would say that it may be missing
      .describe("any JSON value"),
    labels: z.record(z.string(), z.string()),
    pool: z.string(),
    retry: RetryPolicy,
    status: ObserverStatus,
    service: z.object({ id: z.uuid(), name: z.string() }).nullable().describe("where it runs now"),
    currentRunId: z.uuid().nullable(),
    revision: z.int().describe("counts up whenever the manager sends it anew on purpose"),
    epoch: z.int().describe("how many runs it has had"),
    attempts: z
      .int()
      .describe("how often the handler was started in this run, or how many attempts have failed while it waits"),
    lastError: LastError.nullable(),
    nextAttemptAt: Timestamp.nullable(),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
  })
  .meta({ id: "Observer" });
export type ObserverView = z.infer<typeof ObserverView>;

export const RunView = z
  .object({
    id: z.uuid(),
    observerId: z.uuid(),
    service: z.object({ id: z.uuid(), name: z.string().nullable().describe("null: the books never met it") }),
    epoch: z.int(),
    revision: z.int(),
    generation: z.int().describe("which connection of its service delivered it"),
    state: z.enum(["Current", "Superseded", "Ended"]),
    startedAt: Timestamp,
    endedAt: Timestamp.nullable(),
    endReason: RunEndReason.nullable(),
    error: z.object({ name: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: "Run" });
export type RunView = z.infer<typeof RunView>;

export const ServiceView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    pool: z.string(),
    state: ServiceState,
    draining: z
      .boolean()
      .describe(
        "it was told to drain, or its process is about to end: it takes nothing any more, and its workers do not count",
      ),
    drained: z.boolean().describe("it has said that it takes nothing, and nothing is left on it: its process can be ended"),
    workerCount: z.int(),
    running: z.int().describe("observers that the books place on it"),
    free: z.int().describe("workerCount − running; 0 once it drains or has ended"),
    reportedRunning: z.int().describe("what it last said itself, at lastSeenAt"),
    types: z.array(z.string()).describe("observer types that it knows"),
    version: z.string(),
    host: z.string(),
    pid: z.int(),
    generation: z.int(),
    heartbeatMs: z.int(),
    memoryBytes: z.number(),
    eventLoopLagMs: z.number(),
    startedAt: Timestamp,
    lastSeenAt: Timestamp,
    endedAt: Timestamp.nullable(),
    endReason: z.string().nullable(),
    brokerLoss: BrokerLoss.nullable().describe("how it lost its last session with the broker, if that has a remedy"),
  })
  .meta({ id: "Service" });
export type ServiceView = z.infer<typeof ServiceView>;

export const ErrorEntry = z
  .object({
    id: z.string(),
    reason: z.string(),
    detail: z.string(),
    group: z.string().describe("what details of one cause have in common: a filter of the list"),
    queue: z.string(),
    observerId: z.uuid().nullable(),
    runId: z.uuid().nullable(),
    reporter: z.string().describe("the service or manager that reported it"),
    body: z.string().describe("the message as it was, cut"),
    bodyBytes: z.int().describe("how long it was before the cut"),
    at: Timestamp,
  })
  .meta({ id: "ErrorEntry" });
export type ErrorEntry = z.infer<typeof ErrorEntry>;

const page = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    total: z.int().describe("all that match the filter, not only this page"),
    nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
  });

export const ObserverPage = page(ObserverView).meta({ id: "ObserverPage" });
export type ObserverPage = z.infer<typeof ObserverPage>;
export const ErrorPage = page(ErrorEntry).meta({ id: "ErrorPage" });
export type ErrorPage = z.infer<typeof ErrorPage>;
export const RunList = z.object({ items: z.array(RunView), total: z.int() }).meta({ id: "RunList" });
export type RunList = z.infer<typeof RunList>;
export const ServiceList = z.object({ items: z.array(ServiceView), total: z.int() }).meta({ id: "ServiceList" });
export type ServiceList = z.infer<typeof ServiceList>;
