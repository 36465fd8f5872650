import { z } from "zod";
import { BrokenFile } from "../messages/broken-file.ts";
import { BrokerLoss, RELOAD_OUTCOMES } from "../messages/events.ts";
import { SlotDeathView, SlotView } from "../messages/slot-report.ts";
import { ServiceState } from "../states/states.ts";
import { ADDED_LATER } from "./added-later.ts";
import { Timestamp } from "./timestamp.ts";
import { WITHHELD } from "./withheld.ts";

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

/** Whether the service takes new work, if it has a free worker. */
export const takesWork = ({
  state,
  draining,
  cordoned,
  notConsuming,
}: Pick<ServiceView, "state" | "draining" | "cordoned" | "notConsuming">): boolean =>
  state === "Alive" && !draining && !cordoned && notConsuming === null;

export const ServiceList = z.object({ items: z.array(ServiceView), total: z.int() }).meta({ id: "ServiceList" });
export type ServiceList = z.infer<typeof ServiceList>;
