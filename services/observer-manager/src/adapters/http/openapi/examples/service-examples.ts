import { SERVICE_FEATURES, type ServiceList, type ServiceView, type TypeList } from "@unacked/contracts";
import { OBSERVER_ID, SERVICE_ID } from "./observer-examples.ts";

export const SERVICE = {
  id: SERVICE_ID,
  name: "observer-service-1",
  pool: "default",
  state: "Alive",
  draining: false,
  drained: false,
  tasksLeft: 0,
  cordoned: false,
  workerCount: 10,
  running: 7,
  free: 3,
  notConsuming: null,
  reportedRunning: 7,
  types: ["http-poll", "ticker"],
  tasks: { workers: 4, types: ["resize"] },
  features: [...SERVICE_FEATURES],
  version: "0.2.0",
  host: "node-3",
  pid: 2025,
  generation: 1,
  heartbeatMs: 10_000,
  memoryBytes: 96_468_992,
  eventLoopLagMs: 1.4,
  startedAt: "2026-11-20T08:59:58.100Z",
  lastSeenAt: "2026-11-20T09:41:05.204Z",
  endedAt: null,
  endReason: null,
  reload: null,
  brokerLoss: null,
  brokenFiles: [],
  slots: [
    { pid: 2031, purpose: "shared", runs: 4, memoryBytes: 41_943_040, lagMs: 12, startedAt: "2026-11-20T08:59:58.300Z" },
    { pid: 2101, purpose: "shared", runs: 3, memoryBytes: 39_845_888, lagMs: 3, startedAt: "2026-11-20T09:40:31.020Z" },
    { pid: 2102, purpose: "spare", runs: 0, memoryBytes: 31_457_280, lagMs: 0, startedAt: "2026-11-20T09:40:31.080Z" },
  ],
  slotDeaths: [
    {
      at: "2026-11-20T09:40:31.011Z",
      pid: 2032,
      purpose: "shared",
      end: "SIGKILL",
      reason: "culprit",
      why: "price-eur did it: HandlerBlockedError: the handler has blocked the event loop of its slot for 5000 ms",
      runs: 3,
      culprit: { id: OBSERVER_ID, name: "price-eur" },
      culpritTask: null,
    },
  ],
  slotDeathsLately: 1,
} satisfies ServiceView;

export const DRAINING_SERVICE = { ...SERVICE, draining: true, free: 0 } satisfies ServiceView;

export const DRAINED_SERVICE = {
  ...DRAINING_SERVICE,
  drained: true,
  running: 0,
  reportedRunning: 0,
} satisfies ServiceView;

export const CORDONED_SERVICE = { ...SERVICE, cordoned: true, free: 0 } satisfies ServiceView;

const RELOAD = { id: "3f6c1e0a-7d0b-4a53-9f2e-5b1f0c9d8e71", askedAt: "2026-11-20T09:41:06.020Z", answer: null };
const ANSWER = { at: "2026-11-20T09:41:07.310Z", changed: [], added: [], gone: [], brokenFiles: [] };

export const RELOADING_SERVICE = { ...SERVICE, reload: RELOAD } satisfies ServiceView;

export const RELOADED_SERVICE = {
  ...SERVICE,
  reload: { ...RELOAD, answer: { ...ANSWER, outcome: "loaded", changed: ["ticker"] } },
} satisfies ServiceView;

export const KEPT_SERVICE = {
  ...SERVICE,
  reload: {
    ...RELOAD,
    answer: {
      ...ANSWER,
      outcome: "refused",
      why: "a file does not load",
      brokenFiles: [
        {
          file: "/app/observers/ticker.ts",
          problem: 'it does not load: SyntaxError: Expected "}" but found ")"',
          place: { file: "/app/observers/ticker.ts", line: 5, column: 22 },
          excerpt: "> 5 |   async run({ signal ) {\n    |                      ^",
        },
      ],
    },
  },
} satisfies ServiceView;

export const SERVICES = { items: [SERVICE], total: 1 } satisfies ServiceList;

export const TYPES = {
  items: [
    {
      type: "ticker",
      description:
        "Emits a counter at a steady pace, the first after one interval: the smallest observer, to see that things move.",
      paramsSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: {
          everyMs: {
            description: "Milliseconds from one event to the next, 10 to 86,400,000 (a day).",
            type: "integer",
            minimum: 10,
            maximum: 86_400_000,
            default: 1_000,
          },
        },
        additionalProperties: false,
      },
      services: ["observer-service-1", "observer-service-2"],
      pools: ["default"],
    },
  ],
  total: 1,
  broken: [
    {
      file: "/app/observers/feed.ts",
      problem: 'it does not load: SyntaxError: Expected "}" but found ")"',
      place: { file: "/app/observers/feed.ts", line: 5, column: 22 },
      excerpt: "> 5 |   async run({ signal ) {\n    |                      ^",
      services: ["observer-service-2"],
    },
  ],
} satisfies TypeList;
