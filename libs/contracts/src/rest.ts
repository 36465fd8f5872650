import { z } from "zod";
import { ADDED_LATER } from "./added-later.ts";
import { timestamp } from "./bounds.ts";
import { BrokenFile } from "./broken-file.ts";
import { BrokerLoss, RELOAD_OUTCOMES } from "./events.ts";
import { DEFAULT_POOL, Labels, NewObserverName, ObserverId, ObserverName, PoolName, TypeName } from "./ids.ts";
import { SPEC_FIELD_NAMES } from "./observer-spec.ts";
import { PENDING } from "./observer-status.ts";
import { DEFAULT_RETRY, RetryPolicy } from "./retry.ts";
import { Silence, ToldSilence } from "./silence.ts";
import { SlotDeathView, SlotView } from "./slot-report.ts";
import { ObserverStatus, RunEndReason, ServiceState } from "./states.ts";
import { Stack, WITHHELD, withoutStacks } from "./withheld.ts";

/** A body over this is answered 413. */
export const MAX_REQUEST_BODY_BYTES = 262_144;

/** What the REST API answers with: ISO 8601, UTC, milliseconds. */
const Timestamp = z.iso.datetime().describe("ISO 8601, UTC");

export const WhenFull = z.enum(["reject", "queue"]);
export type WhenFull = z.infer<typeof WhenFull>;

/** What is to become of an observer for which there is no worker. */
export const whenFull = WhenFull.default("reject").describe(
  "`reject`: 503 when no worker is free · `queue`: accepted, waits for one",
);

/** POST /observers. Strict: an unknown key is an error that names it. */
export const CreateObserver = z
  .strictObject({
    name: NewObserverName,
    type: TypeName,
    params: z.unknown().default({}).describe("any JSON value; checked by the type's schema where a live service knows it"),
    id: ObserverId.optional().describe("chosen by the client: makes the request safe to repeat"),
    pool: PoolName.default(DEFAULT_POOL),
    labels: Labels.default({}),
    retry: RetryPolicy.default(DEFAULT_RETRY),
    silence: Silence.nullish().describe("how long it may go without a beat; null: as its type says; `{}`: for ever"),
    whenFull,
    startAt: timestamp
      .optional()
      .describe(
        "ISO 8601: it is Scheduled until then, and needs no worker; `whenFull` holds then: with `reject` it waits, Scheduled, for a worker",
      ),
  })
  .meta({ id: "CreateObserver" });
export type CreateObserver = z.infer<typeof CreateObserver>;

/** An error of a handler, as kept in the books. */
const RunError = z.object({ name: z.string(), message: z.string(), stack: Stack });

/** The stack stands with a single observer; lists, changes and the answers of bulk calls leave it out. */
export const LastError = RunError.extend({
  group: z.string().describe("what errors of one cause have in common: a filter of the list, and of GET /stats/errors"),
  at: Timestamp.nullable(),
});

/** What its run does not take as it runs, and with what it runs on. */
export const RejectedUpdate = z
  .object({
    specVersion: z.int().describe("the version that was rejected"),
    reason: z.string().describe("in the words of its type"),
    at: Timestamp,
    keeps: z
      .object({
        specVersion: z.int(),
        params: z
          .unknown()
          .refine((params): boolean => params !== undefined)
          .describe("any JSON value"),
      })
      .describe("what it runs on with, and every later run of it until other params are wanted or somebody restarts it"),
  })
  .meta({ id: "RejectedUpdate" });
export type RejectedUpdate = z.infer<typeof RejectedUpdate>;

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
    silence: ToldSilence.nullable()
      .describe("how long it may go without a beat; null: as its type says, if that does")
      .register(ADDED_LATER, { means: null }),
    silentSince: Timestamp.nullable()
      .describe("its handler runs, and has had no beat since then; null: it is heard, or nobody watches")
      .register(ADDED_LATER, { means: null }),
    status: ObserverStatus,
    pending: z
      .enum(PENDING)
      .nullable()
      .describe(
        "`pause`: it is being paused; the status stays until its message is known to be gone, then it is `Paused` · `update`: it was changed; its run is told, or stopped and sent again as it is wanted now",
      )
      .register(ADDED_LATER, { means: null }),
    service: z.object({ id: z.uuid(), name: z.string() }).nullable().describe("where it runs now"),
    currentRunId: z.uuid().nullable(),
    specVersion: z
      .int()
      .describe("counts up whenever params, labels, retry, pool or silence were changed; 1 as it was created")
      .register(ADDED_LATER, { means: 1 }),
    observedSpecVersion: z
      .int()
      .nullable()
      .describe("what of that its run was given; lower than specVersion: it runs as it was before; null: nothing runs")
      .register(ADDED_LATER, { means: null }),
    rejectedUpdate: RejectedUpdate.nullable().register(ADDED_LATER, { means: null }),
    revision: z.int().describe("counts up whenever the manager sends it again on purpose"),
    runNumber: z.int().describe("how many runs it has had").register(ADDED_LATER, { of: "epoch" }),
    epoch: z.int().describe("the same as runNumber, by its name of 0.1.0").meta({ deprecated: true }),
    restartsLately: z
      .int()
      .describe(
        "how often its handler began again in the last 10 minutes, by a new run or a new attempt; at most 100 are counted",
      )
      .register(ADDED_LATER, { means: 0 }),
    fencingToken: z
      .int()
      .nullable()
      .describe(
        "the highest `ctx.epoch` that a run of it was given; null: its type starts without asking, or none has asked yet",
      )
      .register(ADDED_LATER, { means: null }),
    waitsFor: z
      .enum(["admission"])
      .nullable()
      .describe("`admission`: a service has it, and has asked the manager whether its handler may start")
      .register(ADDED_LATER, { means: null }),
    attempts: z
      .int()
      .describe(
        "how many attempts its run has begun since it was last well, the one that goes on included; without a run, those of the last one; 0 before the first",
      ),
    lastError: LastError.nullable(),
    nextAttemptAt: Timestamp.nullable(),
    startAt: Timestamp.nullable()
      .describe("when it was to start first; null: at once")
      .register(ADDED_LATER, { means: null }),
    startProblem: z
      .enum(["no-free-worker"])
      .nullable()
      .describe("why it is Scheduled still although its time has come: it is tried again every 2 s")
      .register(ADDED_LATER, { means: null }),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
  })
  .meta({ id: "Observer" });
export type ObserverView = z.infer<typeof ObserverView>;

export const SPEC_OUTCOMES = ["created", "changed", "unchanged"] as const;

/** What a PATCH or a PUT is answered with. */
export const ObserverChanged = ObserverView.extend({
  outcome: z.enum(SPEC_OUTCOMES).describe("`unchanged`: it was so already, and nothing was done"),
  changed: z
    .array(z.object({ field: z.enum(SPEC_FIELD_NAMES), is: z.unknown(), wanted: z.unknown() }))
    .describe("what was (`is`) otherwise than it was asked for (`wanted`)"),
}).meta({ id: "ObserverChanged" });
export type ObserverChanged = z.infer<typeof ObserverChanged>;

/** PUT /observers/{ref}: all that is wanted of it; what is left out has the default of a create. */
export const PutObserver = z
  .strictObject({
    ...CreateObserver.omit({ id: true, name: true }).shape,
    name: ObserverName.optional().describe("the name in the path, if it is said here too"),
  })
  .meta({ id: "PutObserver" });
export type PutObserver = z.infer<typeof PutObserver>;

export const RunView = z
  .object({
    id: z.uuid(),
    observerId: z.uuid(),
    service: z.object({ id: z.uuid(), name: z.string().nullable().describe("null: the books never met it") }),
    runNumber: z.int().describe("counts up with each run of the observer").register(ADDED_LATER, { of: "epoch" }),
    epoch: z.int().describe("the same as runNumber, by its name of 0.1.0").meta({ deprecated: true }),
    fencingToken: z
      .int()
      .nullable()
      .describe("its `ctx.epoch`; null: its type starts without asking")
      .register(ADDED_LATER, { means: null }),
    revision: z.int(),
    specVersion: z
      .int()
      .nullable()
      .describe("the version of the observer's spec that its message was made of; null: its service did not say it")
      .register(ADDED_LATER, { means: null }),
    generation: z.int().describe("which connection of its service delivered it"),
    state: z
      .enum(["Requested", "Current", "Superseded", "Ended"])
      .describe("`Requested`: its handler has not begun, it waits for the manager's admission"),
    startedAt: Timestamp,
    endedAt: Timestamp.nullable(),
    endReason: RunEndReason.nullable(),
    error: RunError.nullable(),
    interruption: z
      .string()
      .nullable()
      .describe("of a run that began again through no fault of its own: what ended it, and who did that, if it is known")
      .register(ADDED_LATER, { means: null }),
  })
  .meta({ id: "Run" });
export type RunView = z.infer<typeof RunView>;

export const ServiceReload = z
  .object({
    id: z.uuid(),
    askedAt: Timestamp,
    answer: z
      .object({
        at: Timestamp.describe("by the clock of the service"),
        outcome: z
          .enum(RELOAD_OUTCOMES)
          .describe(
            "loaded: types have other code now, or are new, or gone; unchanged: all is as it was; refused: the old code stays",
          ),
        changed: z
          .array(z.string())
          .describe("types with other code than before: their observers begin again by it, in place"),
        added: z.array(z.string()),
        gone: z
          .array(z.string())
          .describe("types that the folder has no more: their observers wait for a service that has them"),
        why: z
          .string()
          .optional()
          .describe("of one that was refused. For operators and admins")
          .register(WITHHELD, { from: "operator" }),
        brokenFiles: z.array(BrokenFile).describe("files that loaded before and do not now, for which it was refused"),
      })
      .nullable()
      .describe("null: it has not told yet, or has ended before it did"),
  })
  .meta({ id: "ServiceReload" });
export type ServiceReload = z.infer<typeof ServiceReload>;

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
    tasksLeft: z
      .int()
      .describe("tasks that run on it still while it drains; 0 while it does not")
      .register(ADDED_LATER, { means: 0 }),
    cordoned: z
      .boolean()
      .describe("it was told to take nothing more; what runs on it goes on, and its free workers do not count")
      .register(ADDED_LATER, { means: false }),
    workerCount: z
      .int()
      .describe("how many it runs at most; with WORKER_COUNT=auto what runs there and what there is memory for"),
    running: z.int().describe("observers that the books place on it"),
    free: z
      .int()
      .describe("room for so many more: workerCount − running; 0 once it drains or has ended, and while it takes nothing"),
    notConsuming: z
      .string()
      .nullable()
      .describe("why it takes no observers for now, although it neither drains nor has ended; what runs on it goes on")
      .register(ADDED_LATER, { means: null }),
    reportedRunning: z.int().describe("what it last said itself, at lastSeenAt"),
    types: z.array(z.string()).describe("observer types that it knows"),
    tasks: z
      .object({
        workers: z.int().describe("how many it runs at most, beside observers (TASK_WORKERS)"),
        types: z.array(z.string()).describe("task types that it knows"),
      })
      .nullable()
      .describe("the tasks that it takes; null: none, or it has not told yet, or ended more than an hour ago")
      .register(ADDED_LATER, { means: null }),
    brokenFiles: z
      .array(BrokenFile)
      .describe("files of its folder that it could not load: their types are missing here")
      .register(ADDED_LATER, { means: [] }),
    slots: z
      .array(SlotView)
      .describe("the processes in which it runs observers, the first 64; none with SLOTS=0")
      .register(ADDED_LATER, { means: [] }),
    slotDeaths: z
      .array(SlotDeathView)
      .describe("the last of them that ended, up to 5, the newest first")
      .register(ADDED_LATER, { means: [] }),
    slotDeathsLately: z
      .int()
      .describe("how many ended in the last 10 minutes by what nobody wanted")
      .register(ADDED_LATER, { means: 0 }),
    features: z.array(z.string()).describe("what it can do that not every version can").register(ADDED_LATER, { means: [] }),
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
    reload: ServiceReload.nullable()
      .describe("the load of its folder that was asked for last; null: none was, since it started")
      .register(ADDED_LATER, { means: null }),
    brokerLoss: BrokerLoss.nullable().describe("how it lost its last session with the broker, if that has a remedy"),
  })
  .meta({ id: "Service" });
export type ServiceView = z.infer<typeof ServiceView>;

/** Whether it takes what is started now, if it has a free worker. */
export const takesWork = ({
  state,
  draining,
  cordoned,
  notConsuming,
}: Pick<ServiceView, "state" | "draining" | "cordoned" | "notConsuming">): boolean =>
  state === "Alive" && !draining && !cordoned && notConsuming === null;

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
    body: z
      .string()
      .describe("the message as it was, cut; to viewers without the stacks in it")
      .register(WITHHELD, { from: "operator", instead: withoutStacks }),
    bodyBytes: z.int().describe("how long it was before the cut"),
    at: Timestamp,
  })
  .meta({ id: "ErrorEntry" });
export type ErrorEntry = z.infer<typeof ErrorEntry>;

/** How a page stands to the whole. */
export const ofWhole = {
  total: z.int().describe("all that match the filter, not only this page"),
  nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
};

const page = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item), ...ofWhole });

export const ObserverPage = page(ObserverView).meta({ id: "ObserverPage" });
export type ObserverPage = z.infer<typeof ObserverPage>;
export const ErrorPage = page(ErrorEntry).meta({ id: "ErrorPage" });
export type ErrorPage = z.infer<typeof ErrorPage>;
export const RunList = z.object({ items: z.array(RunView), total: z.int() }).meta({ id: "RunList" });
export type RunList = z.infer<typeof RunList>;
export const ServiceList = z.object({ items: z.array(ServiceView), total: z.int() }).meta({ id: "ServiceList" });
export type ServiceList = z.infer<typeof ServiceList>;
