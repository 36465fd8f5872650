import type { PoolStats } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import type { Facts } from "../../../services/observer-manager/src/domain/overview/facts.ts";
import { warningsOf } from "../../../services/observer-manager/src/domain/overview/warnings.ts";

const pool: PoolStats = {
  pool: "default",
  services: 2,
  draining: 0,
  workers: 20,
  occupied: 5,
  desired: 15,
  free: 15,
  silent: 0,
  survivesLargestService: true,
};
const service: Facts["services"][number] = {
  name: "service-1",
  state: "Alive",
  brokerLoss: null,
  brokenFiles: [],
  slotDeaths: [],
  slotDeathsLately: 0,
  lastSeenAt: "2026-01-01T00:00:00.000Z",
};
const well: Facts = {
  pools: [pool],
  services: [service],
  stateQueueLag: 0,
  brokerBlocks: false,
  queueTroubles: [],
  unwantedQueues: [],
  queueBroker: { brokerVersion: "4.2.9", queueType: "classic" },
  booksBlockers: [],
  longSnapshots: [],
  goneServices: [],
  lateStarts: [],
  unservedTypes: [],
  unheardTimers: [],
  silentObservers: [],
  restartedObservers: [],
  unevenPools: [],
};
const codes = (facts: Facts) => warningsOf(facts).map((one) => one.code);

describe("warnings", () => {
  it("name a pool with a service that is far from its share, and what makes it even", () => {
    const unevenPools = [{ pool: "default", why: "service-1 runs 30, and its share is 20", moves: 10 }];
    expect(warningsOf({ ...well, unevenPools })).toEqual([
      {
        code: "pool-uneven",
        subject: "default",
        message: "Pool default is not even: service-1 runs 30, and its share is 20.",
        remedy: expect.stringMatching(/^10 moves make it even: unacked rebalance default\./),
      },
    ]);
  });

  it("name a service that went without a word", () => {
    const gone = { name: "service-1", pool: "default", host: "node-3", goneAt: new Date("2026-01-01T00:00:00Z") };
    expect(warningsOf({ ...well, goneServices: [gone] })).toEqual([
      {
        code: "service-gone",
        subject: "service-1",
        message: expect.stringMatching(/^service-1 of pool default, on node-3, ended without notice at 2026-01-01T00:00:00/),
        remedy: expect.stringContaining("look at its last log lines and at its host"),
      },
    ]);
  });

  it("name what waits for a type that no service of its pool has, and who has it", () => {
    const kraken = {
      kind: "observer",
      pool: "default",
      type: "kraken",
      count: 1,
      isExact: true,
      unsent: 0,
      resting: [],
      elsewhere: ["eu"],
    } as const;
    const resize = { ...kraken, kind: "task", type: "resize", count: 1_000, isExact: false, elsewhere: [] } as const;
    expect(warningsOf({ ...well, unservedTypes: [kraken, resize] })).toEqual([
      {
        code: "type-not-served",
        subject: "kraken",
        message: "1 observer of type kraken waits in pool default: no service there has the type. Those of pool eu have it.",
        remedy: expect.stringMatching(/^Start a service with POOL=default whose .*; or move them to a pool that has it/),
      },
      {
        code: "type-not-served",
        subject: "resize",
        message:
          "1000 and more tasks of type resize wait in pool default: no service there has the type. No service at all has it.",
        remedy: expect.stringMatching(/ TASK_WORKERS above 0 .*unacked limit resize --outside\)\.$/),
      },
    ]);
  });

  it("name who has a type and takes nothing just now", () => {
    const gpu = {
      kind: "observer",
      pool: "default",
      type: "gpu",
      count: 2,
      isExact: true,
      unsent: 0,
      elsewhere: [],
    } as const;
    expect(warningsOf({ ...well, unservedTypes: [{ ...gpu, resting: ["gpu-1", "gpu-2"] }] })).toMatchObject([
      {
        message:
          "2 observers of type gpu wait in pool default: of the services there gpu-1, gpu-2 alone have the type, and drain or are cordoned.",
        remedy: expect.stringMatching(
          /^Let one take work again \(unacked uncordon NAME\), or start a service with POOL=default/,
        ),
      },
    ]);
  });

  it("name a broker that gives the jobs of quorum queues away whenever its nodes lose each other", () => {
    const codesOn = (brokerVersion: string) => codes({ ...well, queueBroker: { brokerVersion, queueType: "quorum" } });
    expect(["3.10.8", "4.2.9"].map(codesOn)).toEqual([["broker-takes-back"], ["broker-takes-back"]]);
    expect(["4.3.0", "4.10.1", "5.0.0"].map(codesOn)).toEqual([[], [], []]);
  });

  it("name who holds what the managers wait for, and how it is ended", () => {
    const psql = { pid: 77, user: "ops", application: "psql", openForS: 12.9, waiting: 2 };
    const prepared = { pid: 0, user: "", application: "", openForS: 4, waiting: 1 };
    expect(warningsOf({ ...well, booksBlockers: [psql, prepared] })).toEqual([
      {
        code: "books-blocked",
        subject: "pid 77",
        message: expect.stringMatching(
          /^psql \(user ops, pid 77 of PostgreSQL\) has had a transaction open for 12 s, and holds locks that 2 sessions of the managers wait for\./,
        ),
        remedy: expect.stringContaining("SELECT pg_terminate_backend(77)"),
      },
      {
        code: "books-blocked",
        subject: "prepared transaction",
        message: expect.stringMatching(/^A prepared transaction holds locks that 1 session of the managers wait/),
        remedy: expect.stringContaining("pg_prepared_xacts"),
      },
    ]);
  });

  it("name who has a transaction open for long, and how it is ended", () => {
    const longSnapshots = [{ pid: 77, user: "backup", application: "pg_dump", openForS: 245 }];
    expect(warningsOf({ ...well, longSnapshots })).toEqual([
      {
        code: "long-snapshot",
        subject: "pid 77",
        message: expect.stringMatching(
          /^pg_dump \(user backup, pid 77 of PostgreSQL\) has had a transaction open for 4 min/,
        ),
        remedy: expect.stringContaining("SELECT pg_terminate_backend(77)"),
      },
    ]);
    const [unnamed] = warningsOf({ ...well, longSnapshots: [{ pid: 7, user: "x", application: "", openForS: 120 }] });
    expect(unnamed?.message).toMatch(/^A program without a name/);
  });

  it("name timers that are due and that nobody listens to", () => {
    const unheard = { name: "cart.abandoned", count: 2, isRefused: false, since: new Date("2026-11-20T09:00:00Z") };
    expect(warningsOf({ ...well, unheardTimers: [unheard] })).toEqual([
      {
        code: "timers-unheard",
        subject: "cart.abandoned",
        message: expect.stringMatching(/^2 timers named cart\.abandoned are due, and no queue took them/),
        remedy: expect.stringContaining("Bind a queue to the exchange unacked.timers with the key cart.abandoned"),
      },
    ]);
    const unheardTimers = [{ ...unheard, count: 1, isRefused: true }];
    expect(warningsOf({ ...well, unheardTimers })).toEqual([
      {
        code: "timers-unheard",
        subject: "cart.abandoned",
        message: expect.stringMatching(
          /^1 timer named cart\.abandoned is due, and a queue that is bound for that refuses it .* since 2026/,
        ),
        remedy: expect.stringMatching(/empty the full one, .* cannot be cancelled/),
      },
    ]);
  });

  it("are none where all is well", () => {
    expect(warningsOf(well)).toEqual([]);
  });

  it("name a broker that cuts jobs, with the remedy that the service was told", () => {
    const brokerLoss = { kind: "consumer-timeout", detail: "406 …", remedy: "Set consumer_timeout" };
    expect(warningsOf({ ...well, services: [{ ...service, brokerLoss }] })).toMatchObject([
      { code: "broker-cuts-jobs", subject: "service-1", remedy: "Set consumer_timeout" },
    ]);
  });

  it("name a file that does not load once, with its place and all services that lack its types", () => {
    const file = { file: "/o/feed.ts", problem: "it does not load", place: { file: "/o/part.ts", line: 5, column: 22 } };
    const services = ["a", "b"].map((name) => ({ ...service, name, brokenFiles: [{ ...file, excerpt: name }] }));
    expect(warningsOf({ ...well, services })).toMatchObject([
      { code: "file-not-loaded", subject: "/o/feed.ts", message: "/o/part.ts:5:22 on a, b: it does not load." },
    ]);
  });

  it("name a service whose slots end again and again, and who does it where that is known", () => {
    const death = {
      at: "2026-01-01T00:00:00.000Z",
      pid: 1,
      purpose: "shared",
      end: "SIGKILL",
      runs: 3,
      reason: "unnamed",
      why: "nobody can be named: 3 suspects",
      culprit: null,
      culpritTask: null,
    };
    const block = { ...death, reason: "culprit", culpritTask: { id: "2", type: "block" } };
    const spin = { ...death, reason: "culprit", why: "spin did it: Error: x", culprit: { id: "1", name: "spin" } };
    const told = (slotDeaths: (typeof death | typeof spin | typeof block)[], slotDeathsLately: number) =>
      warningsOf({ ...well, services: [{ ...service, slotDeaths, slotDeathsLately }] });
    expect(told([spin, spin], 2)).toEqual([]);
    expect(told([spin, spin, death], 3)).toMatchObject([
      {
        code: "slots-die",
        subject: "service-1",
        message:
          "Slots of service-1 ended 3 times in 10 minutes, and each time what ran in them began again. The last one (SIGKILL): spin did it: Error: x.",
        remedy: expect.stringMatching(/^Mend or stop spin: /),
      },
    ]);
    expect(told([block, spin, block], 3)[0]?.remedy).toMatch(/^Mend or stop tasks of the type block, spin: /);
    const stopped = { ...death, reason: "stop", why: "ended for a stop that task slow 1 ignored" };
    expect(told([stopped, spin, spin], 3)[0]?.message).toContain("The last one (SIGKILL): spin did it: Error: x.");
    expect(told([death, death, death], 9)[0]?.remedy).toMatch(/^Who it is, is being found/);
    const frozen = { ...death, reason: "other", why: "it was frozen from outside" };
    expect(told([frozen, frozen, frozen], 3)[0]?.remedy).toMatch(/^Nobody is looked for/);
    expect(told([frozen, death, frozen], 3)[0]?.remedy).toMatch(/^Who it is, is being found/);
    // Nobody is blamed for what was long ago.
    const before = { ...spin, at: "2025-12-31T23:45:00.000Z" };
    expect(told([death, death, death, before], 3)[0]?.remedy).toMatch(/^Who it is, is being found/);
  });

  it("name a queue that cannot be had, with the broker's words, and what waits for it", () => {
    const trouble = { pool: "default", detail: "406 …", remedy: "Delete it" };
    expect(warningsOf({ ...well, queueTroubles: [trouble] })).toEqual([
      {
        code: "queue-refused",
        subject: "default",
        message: "The queue of pool default is not available: 406 …. What its 5 observers still need sent waits.",
        remedy: "Delete it",
      },
    ]);
  });

  it("name a queue that nobody wants, and why it is kept", () => {
    const remedies = [
      { pool: "old", ready: 0, consumers: 1 },
      { pool: "old", ready: 3, consumers: 0 },
    ].map((queue) => warningsOf({ ...well, unwantedQueues: [queue] }));
    expect(remedies).toMatchObject([
      [{ code: "queue-unwanted", subject: "old", remedy: expect.stringContaining("End its consumers") }],
      [{ code: "queue-unwanted", subject: "old", remedy: expect.stringContaining("POOL=old") }],
    ]);
  });

  it("do not say of what runs on a cordoned service that it waits", () => {
    const cordoned = { ...pool, services: 1, draining: 1, workers: 4, occupied: 4, free: 0 };
    const [running] = warningsOf({ ...well, pools: [cordoned] });
    expect(running).toMatchObject({ code: "all-draining", message: expect.stringMatching(/none takes its work\.$/) });
    const [waiting] = warningsOf({ ...well, pools: [{ ...cordoned, occupied: 5 }] });
    expect(waiting).toMatchObject({ message: expect.stringMatching(/none takes its work: 1 observer waits\.$/) });
  });

  it("name a broker that blocks what is published, and no service that cannot speak by it", () => {
    const suspects = [{ ...service, state: "Suspect" as const }];
    expect(warningsOf({ ...well, services: suspects, brokerBlocks: true })).toEqual([
      {
        code: "broker-blocks",
        subject: "broker",
        message: expect.stringContaining("a memory or disk alarm"),
        remedy: "Free memory or disk on the broker; starts and stops wait meanwhile.",
      },
    ]);
  });

  it("name a pool that nobody serves also for observers whose time to start has come", () => {
    const late = (of: string, type = "ticker") => ({ pool: of, type, count: 2 });
    const unserved = { ...pool, pool: "unserved", services: 0, workers: 0, free: 0, occupied: 3 };
    const lateStarts = [late("default"), late("unserved"), late("night"), late("night", "poller")];
    expect(warningsOf({ ...well, pools: [pool, unserved], lateStarts })).toMatchObject([
      { code: "no-service", subject: "unserved", message: expect.stringMatching(/^5 observers of pool unserved wait,/) },
      { code: "no-service", subject: "night", message: expect.stringMatching(/^4 observers of pool night wait,/) },
    ]);
  });

  it("name what stands in the way, and nothing else", () => {
    expect(codes({ ...well, stateQueueLag: null })).toEqual(["broker-away"]);
    expect(codes({ ...well, stateQueueLag: 5_000 })).toEqual(["state-queue-behind"]);
    expect(codes({ ...well, pools: [{ ...pool, occupied: 21, free: 0 }] })).toEqual(["no-free-worker"]);
    expect(codes({ ...well, pools: [{ ...pool, services: 0, workers: 0, free: 0 }] })).toEqual(["no-service"]);
    expect(codes({ ...well, pools: [{ ...pool, survivesLargestService: false }] })).toEqual(["would-not-survive"]);
    const drained = { ...pool, draining: 2, workers: 0, free: 0, survivesLargestService: false };
    expect(codes({ ...well, pools: [drained] })).toEqual(["all-draining"]);
    expect(codes({ ...well, pools: [{ ...pool, draining: 1 }] })).toEqual([]);
    expect(codes({ ...well, services: [{ ...service, state: "Suspect" }] })).toEqual(["service-suspect"]);
    expect(codes({ ...well, services: [service, service] })).toEqual(["same-service-name"]);
  });
});
