import { z } from "zod";
import { timestamp } from "../bounds.ts";
import { DEFAULT_POOL, Labels, NewObserverName, ObserverId, ObserverName, PoolName, TypeName } from "../ids.ts";
import { SPEC_FIELD_NAMES } from "../observer-spec.ts";
import { DEFAULT_RETRY, RetryPolicy } from "../retry.ts";
import { Silence, ToldSilence } from "../silence.ts";
import { PENDING } from "../states/observer-status.ts";
import { ObserverStatus } from "../states/states.ts";
import { ADDED_LATER } from "./added-later.ts";
import { page } from "./page.ts";
import { RunError } from "./runs.ts";
import { Timestamp } from "./timestamp.ts";

export const WhenFull = z.enum(["reject", "queue"]);
export type WhenFull = z.infer<typeof WhenFull>;

/** What happens to an observer for which there is no worker. */
export const whenFull = WhenFull.default("reject").describe(
  "`reject`: 503 when no worker is free · `queue`: accepted, waits for one",
);

/** POST /observers. Strict: an unknown key is an error that names it. */
export const CreateObserver = z
  .strictObject({
    name: NewObserverName,
    type: TypeName,
    params: z.unknown().default({}).describe("any JSON value; checked by the type's schema where a live service knows it"),
    id: ObserverId.optional().describe(
      "chosen by the client: makes the request safe to repeat. The id of one that is Deleted runs nothing: the answer is 200 with that one",
    ),
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

/** Only a single observer shows the stack; lists, changes and the answers of bulk calls leave it out. */
export const LastError = RunError.extend({
  group: z.string().describe("what errors of one cause have in common: a filter of the list, and of GET /stats/errors"),
  at: Timestamp.nullable(),
});

/** The params that its run did not take, and those that it goes on with. */
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
      .refine((params): boolean => params !== undefined) // for `unknown` alone the document would say that it may be missing
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
        "the highest `ctx.fencingToken` that a run of it was given; null: its type starts without asking, or none has asked yet",
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

/** The answer to a PATCH or a PUT. */
export const ObserverChanged = ObserverView.extend({
  outcome: z.enum(SPEC_OUTCOMES).describe("`unchanged`: it was so already, and nothing was done"),
  changed: z
    .array(z.object({ field: z.enum(SPEC_FIELD_NAMES), is: z.unknown(), wanted: z.unknown() }))
    .describe("what was (`is`) otherwise than it was asked for (`wanted`)"),
}).meta({ id: "ObserverChanged" });
export type ObserverChanged = z.infer<typeof ObserverChanged>;

/** PUT /observers/{ref}: the whole spec; what is left out has the default of a create. */
export const PutObserver = z
  .strictObject({
    ...CreateObserver.omit({ id: true, name: true }).shape,
    name: ObserverName.optional().describe("the name in the path, if it is said here too"),
  })
  .meta({ id: "PutObserver" });
export type PutObserver = z.infer<typeof PutObserver>;

export const ObserverPage = page(ObserverView).meta({ id: "ObserverPage" });
export type ObserverPage = z.infer<typeof ObserverPage>;
