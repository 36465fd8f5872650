import { noneOfEachStatus, type Readiness, type RunFigures, type Stats } from "@unacked/contracts";

const BY_STATUS = { ...noneOfEachStatus(), Created: 2, Processing: 205, Retrying: 5, Deleted: 31, Failed: 2 };

export const STATS = {
  observers: { total: 245, byStatus: BY_STATUS, byType: [{ type: "http-poll", total: 245, byStatus: BY_STATUS }] },
  workers: {
    total: 210,
    free: 0,
    byPool: [
      {
        pool: "default",
        services: 3,
        draining: 0,
        workers: 210,
        occupied: 212,
        desired: 282,
        free: 0,
        silent: 0,
        survivesLargestService: false,
      },
    ],
  },
  survivesLargestService: false,
  warnings: [
    {
      code: "no-free-worker",
      subject: "default",
      message: "All 210 workers of pool default are taken; 2 observers wait.",
      remedy: "Add a service, or raise WORKER_COUNT.",
    },
  ],
  queues: [
    { queue: "unacked.work.default", ready: 2, consumers: 3 },
    { queue: "unacked.state", ready: 0, consumers: 1 },
    { queue: "unacked.error", ready: 0, consumers: 1 },
  ],
  stateQueueLag: 0,
  oldestWaiting: {
    id: "01936f9a-1d2c-7e3f-8a4b-5c6d7e8f9a0b",
    name: "till-12",
    status: "Created",
    since: "2026-11-20T09:40:02.330Z",
    waitingMs: 65_072,
  },
} satisfies Stats;

export const READY = {
  ready: true,
  checks: {
    database: { ok: true, detail: "answers" },
    broker: { ok: true, detail: "connected" },
    stateQueue: { ok: true, detail: "0 batches wait in unacked.state" },
  },
} satisfies Readiness;

export const NOT_READY = {
  ready: false,
  checks: {
    ...READY.checks,
    broker: {
      ok: false,
      detail: "unreachable: connect ECONNREFUSED 127.0.0.1:5672",
      remedy: "Start RabbitMQ, or check AMQP_URL; the manager connects again by itself.",
    },
  },
} satisfies Readiness;

export const METRICS = `# HELP unacked_observers Observers by status.
# TYPE unacked_observers gauge
unacked_observers{type="http-poll",status="Processing"} 205
`;

/** The text that GET /events sends. */
export const STREAM = `retry: 1000

event: ready
id: 7431204857711208463.16385-4182
data: {"cursor":"7431204857711208463.16385-4182"}

`;

export const RUN_FIGURES = {
  since: "2026-11-20T08:31:00.000Z",
  at: "2026-11-20T09:30:12.004Z",
  items: [
    { at: "2026-11-20T09:00:00.000Z", starts: 245, failures: 0, interruptions: 0, emits: 12_210 },
    { at: "2026-11-20T09:01:00.000Z", starts: 3, failures: 1, interruptions: 2, emits: 14_700 },
  ],
  byType: [{ type: "http-poll", starts: 248, failures: 1, interruptions: 2, emits: 26_910 }],
  byService: [
    {
      service: { id: "01936f5e-1f6b-7d0e-9a55-2f6c1d3b7a10", name: "observer-service-1" },
      starts: 248,
      failures: 1,
      interruptions: 2,
      emits: 26_910,
    },
  ],
} satisfies RunFigures;
