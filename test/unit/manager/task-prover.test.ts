import type { TaskId } from "@unacked/contracts";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { TaskMarkers } from "../../../services/observer-manager/src/operations/tasks/upkeep/task-markers.ts";
import type {
  TaskProof,
  TaskSession,
} from "../../../services/observer-manager/src/operations/tasks/upkeep/task-proof-store.ts";
import {
  TaskProver,
  type TaskProverParts,
} from "../../../services/observer-manager/src/operations/tasks/upkeep/task-prover.ts";
import { keptLog } from "../../support/servers/books.ts";

const ID = "0198c000-0000-7000-8000-000000000001" as TaskId;
const NOBODY: TaskSession[] = [];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const markers: TaskMarkers = {
  writableForMs: 60_000,
  sendMarker: () => expect.fail("nobody would see it"),
  ask: () => expect.fail("there is nobody"),
  lives: async () => false,
  queue: async () => ({ ready: 1, consumers: 0 }),
};

function proverOf(
  store: Partial<TaskProverParts["store"]>,
  told: TaskId[][],
  sendMarker: TaskMarkers["sendMarker"] = markers.sendMarker,
): TaskProver {
  const all: TaskProverParts["store"] = {
    poolsInDoubt: async () => [{ pool: "default", isUrgent: true }],
    provenPools: async () => [],
    forgetOthers: async () => undefined,
    find: async () => undefined,
    sessions: async () => NOBODY,
    begin: () => expect.fail("nobody could answer"),
    asked: async () => undefined,
    drop: async () => undefined,
    conclude: () => expect.fail("nothing was proven"),
    endAbandoned: async () => ({ ready: 0, cancelled: [] }),
    ...store,
  };
  return new TaskProver({
    store: all,
    markers: { ...markers, sendMarker },
    isCaughtUp: () => true,
    wake: () => undefined,
    over: (tasks) => void told.push(tasks),
    log: keptLog(),
  });
}

test("What was cancelled on a service that is gone is over, also where no other service of its pool lives", async () => {
  const told: TaskId[][] = [];
  const prover = proverOf({ endAbandoned: async () => ({ ready: 0, cancelled: [ID] }) }, told);
  prover.start();
  await vi.advanceTimersByTimeAsync(2_500);
  void prover.stop();
  expect(told).toEqual([[ID]]);
});

test("Where nothing is urgent nobody is looked for who is gone", async () => {
  const told: TaskId[][] = [];
  const poolsInDoubt = async () => [{ pool: "default", isUrgent: false }];
  const prover = proverOf({ poolsInDoubt, endAbandoned: () => expect.fail("it is asked for nothing") }, told);
  prover.start();
  await vi.advanceTimersByTimeAsync(10_000);
  void prover.stop();
  expect(told).toEqual([]);
});

test("What runs on a living service is proven in its turn, and sooner where news of it is lost: when a proof would judge all that was sent by then", async () => {
  const begunMs: number[] = [];
  let proof: TaskProof | undefined;
  const prover = proverOf(
    {
      poolsInDoubt: async () => [{ pool: "default", isUrgent: false }],
      sessions: async () => [{ name: `${ID}.1`, isLiving: true, isConsuming: true, hasEndedSince: false }],
      find: async () => proof && { ...proof, beganAgoMs: performance.now() - (begunMs.at(-1) ?? 0) },
      begin: async ({ markerId, services }) => {
        begunMs.push(performance.now());
        proof = { pool: "default", markerId, services, answered: services, seenAgoMs: 1, beganAgoMs: 0, askedAgoMs: 1 };
        return true;
      },
      conclude: async () => {
        proof = undefined;
        return { ready: 0, cancelled: [] };
      },
    },
    [],
    async () => undefined,
  );
  prover.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begunMs).toEqual([]);
  const lostMs = performance.now();
  prover.booksAreBehind(["default"]);
  await vi.advanceTimersByTimeAsync(60_000);
  void prover.stop();
  expect(begunMs).toHaveLength(1);
  expect((begunMs[0] ?? 0) - lostMs).toBeGreaterThan(15_000);
  expect((begunMs[0] ?? 0) - lostMs).toBeLessThan(20_000);
});

const [A, B] = ["a", "b"].map((last) => `0198c000-0000-7000-8000-00000000000${last}`) as [string, string];
const living = (name: string): TaskSession => ({ name, isLiving: true, isConsuming: true, hasEndedSince: false });
const ended = (name: string, hasEndedSince = false): TaskSession => ({ ...living(name), isLiving: false, hasEndedSince });
const proofOf = (more: Partial<TaskProof>): TaskProof => ({
  ...{ pool: "default", markerId: "m", services: [`${A}.1`, `${B}.1`], answered: [] },
  ...{ seenAgoMs: 1_000, beganAgoMs: 2_000, askedAgoMs: null },
  ...more,
});

interface World {
  sessions: TaskSession[];
  proof: TaskProof | undefined;
  /** As the broker says. */
  gone: string[];
  queue: { ready: number; consumers: number } | null;
  writableForMs: number;
  isUrgent: boolean;
  inDoubt: string[];
  /** While the books are asked who lives. */
  meanwhile: () => void;
}

/** A prover, and what it does in a world that the test makes, in order. */
function inWorld(more: Partial<World>) {
  const world: World = {
    ...{ sessions: [living(`${A}.1`), living(`${B}.1`)], proof: undefined, gone: [], queue: { ready: 0, consumers: 2 } },
    ...{ writableForMs: 60_000, isUrgent: true, inDoubt: ["default"], meanwhile: () => undefined },
    ...more,
  };
  const done: string[] = [];
  const short = (names: readonly string[]) => names.map((name) => name.slice(35)).join(" ");
  const isThere = (id: string, generation: number) => !world.gone.includes(`${id}.${generation}`);
  const prover = new TaskProver({
    store: {
      poolsInDoubt: async () => world.inDoubt.map((pool) => ({ pool, isUrgent: world.isUrgent })),
      provenPools: async () => [],
      forgetOthers: async () => undefined,
      find: async (pool) => (world.proof?.pool === pool ? world.proof : undefined),
      sessions: async () => {
        world.meanwhile();
        return world.sessions;
      },
      begin: async ({ pool, markerId, services, gone }) => {
        done.push(`begin with ${short(services)}${gone.length > 0 ? `, gone ${short(gone)}` : ""}`);
        if (pool === "default")
          world.proof = proofOf({ markerId, services, answered: gone, seenAgoMs: null, beganAgoMs: 0 });
        return true;
      },
      asked: async () => void (world.proof && Object.assign(world.proof, { askedAgoMs: 0 })),
      drop: async () => {
        done.push("drop");
        world.proof = undefined;
      },
      conclude: async () => {
        done.push("conclude");
        world.proof = undefined;
        return { ready: 0, cancelled: [] };
      },
      endAbandoned: async () => ({ ready: 0, cancelled: [] }),
    },
    markers: {
      get writableForMs() {
        return world.writableForMs;
      },
      sendMarker: async () => void done.push("marker"),
      ask: async ({ serviceId, generation }) => {
        done.push(`ask ${short([`${serviceId}.${generation}`])}`);
        return isThere(serviceId, generation);
      },
      lives: async ({ serviceId, generation }) => isThere(serviceId, generation),
      queue: async () => world.queue,
    },
    isCaughtUp: () => true,
    wake: () => undefined,
    over: () => undefined,
    log: keptLog(),
  });
  /** @returns what it does within that time, from its start on */
  const during = async (ms: number): Promise<string[]> => {
    await vi.advanceTimersByTimeAsync(ms);
    return done.splice(0);
  };
  prover.start();
  onTestFinished(() => void prover.stop());
  return { prover, world, during };
}

const FIRST_LOOK_MS = 2_000;

// Docs: decisions/0032, "What if".
test.each<[string, string, Partial<World>]>([
  ["the manager died before the marker, 9 s ago", "", { proof: proofOf({ seenAgoMs: null, beganAgoMs: 9_000 }) }],
  ["the manager died before the marker, 10 s ago", "drop", { proof: proofOf({ seenAgoMs: null, beganAgoMs: 10_001 }) }],
  [
    "the marker may be in the queue, behind long tasks",
    "",
    { proof: proofOf({ seenAgoMs: null, beganAgoMs: 599_000 }), queue: { ready: 5, consumers: 2 } },
  ],
  [
    "the marker has expired behind long tasks",
    "drop",
    { proof: proofOf({ seenAgoMs: null, beganAgoMs: 600_001 }), queue: { ready: 5, consumers: 2 } },
  ],
  ["another manager has begun it, and one has answered", "ask b.1", { proof: proofOf({ answered: [`${A}.1`] }) }],
  ["all have answered", "conclude", { proof: proofOf({ answered: [`${A}.1`, `${B}.1`] }) }],
  [
    "a service died after the marker was seen, before its answer",
    "drop",
    { proof: proofOf({ answered: [`${A}.1`] }), sessions: [living(`${A}.1`), ended(`${B}.1`, true)] },
  ],
  [
    "a service died after its answer",
    "conclude",
    { proof: proofOf({ answered: [`${A}.1`, `${B}.1`] }), sessions: [living(`${A}.1`), ended(`${B}.1`, true)] },
  ],
  ["one has not answered for 44 s", "ask b.1", { proof: proofOf({ answered: [`${A}.1`], seenAgoMs: 44_000 }) }],
  ["one has not answered for 45 s", "drop", { proof: proofOf({ answered: [`${A}.1`], seenAgoMs: 45_001 }) }],
  ["a service has come since", "ask b.1", { proof: proofOf({ services: [`${A}.1`], answered: [`${A}.1`] }) }],
  [
    "a service came, took what was in front of the marker, and died before anybody looked",
    "drop",
    { proof: proofOf({ services: [`${A}.1`], answered: [`${A}.1`] }), sessions: [living(`${A}.1`), ended(`${B}.1`, true)] },
  ],
  [
    "a service had ended before the proof began",
    "conclude",
    { proof: proofOf({ services: [`${A}.1`], answered: [`${A}.1`] }), sessions: [living(`${A}.1`), ended(`${B}.1`)] },
  ],
  [
    "a session is lost and the next has begun",
    "drop",
    { proof: proofOf({ answered: [`${A}.1`] }), sessions: [living(`${A}.1`), living(`${B}.2`)] },
  ],
])("Of a proof under way, where %s: %s", async (_what, step, world) => {
  const { during } = inWorld(world);
  const [first = ""] = await during(FIRST_LOOK_MS);
  expect(first).toBe(step);
});

test.each<[string, boolean, Partial<World>]>([
  ["all live", true, {}],
  ["nobody lives", false, { sessions: [ended(`${A}.1`)] }],
  ["the broker takes messages for less than 5 s", false, { writableForMs: 4_999 }],
  [
    "one has ended, and its consumer is there still",
    false,
    { sessions: [living(`${A}.1`), ended(`${B}.1`)], queue: { ready: 0, consumers: 2 } },
  ],
  [
    "one has ended, and its consumer is gone",
    true,
    { sessions: [living(`${A}.1`), ended(`${B}.1`)], queue: { ready: 0, consumers: 1 } },
  ],
  ["one has ended, and the queue cannot be seen", false, { sessions: [living(`${A}.1`), ended(`${B}.1`)], queue: null }],
  [
    "one has ended, and a consumer is not one of those that take tasks",
    false,
    {
      sessions: [{ ...living(`${A}.1`), isConsuming: false }, ended(`${B}.1`)],
      queue: { ready: 0, consumers: 1 },
    },
  ],
])("Where %s a proof begins: %s", async (_what, begins, more) => {
  const { during } = inWorld(more);
  const done = await during(FIRST_LOOK_MS);
  expect(done).toEqual(begins ? [expect.stringMatching(/^begin with a.1/), "marker"] : []);
});

test("None begins where there was an alarm while the books were asked who lives: what waited in sockets is behind its marker", async () => {
  const { world, during } = inWorld({});
  world.meanwhile = () => {
    world.writableForMs = 0;
  };
  expect(await during(60_000)).toEqual([]);
  world.meanwhile = () => undefined;
  world.writableForMs = 5_000;
  expect(await during(FIRST_LOOK_MS)).toEqual(["begin with a.1 b.1", "marker"]);
});

const shaken = () => ({ proof: proofOf({ answered: [`${A}.1`] }), gone: [`${B}.1`] });

test("A service that the books do not know to be gone is asked, and the next proof begins without it, of this pool alone", async () => {
  const { world, during } = inWorld({ ...shaken(), queue: { ready: 0, consumers: 1 } });
  expect(await during(FIRST_LOOK_MS + 100)).toEqual(["ask b.1", "drop", "begin with a.1 b.1, gone b.1", "marker"]);
  world.proof = proofOf({ answered: [`${A}.1`, `${B}.1`] });
  expect(await during(FIRST_LOOK_MS)).toContain("conclude");
  // It came to an end: nobody is suspected in the next.
  world.proof = undefined;
  expect((await during(FIRST_LOOK_MS))[0]).toBe("begin with a.1 b.1");
});

test("Of two pools the one that is not shaken asks nobody whether he lives", async () => {
  const { during } = inWorld({ ...shaken(), queue: { ready: 0, consumers: 1 }, inDoubt: ["default", "other"] });
  const done = await during(FIRST_LOOK_MS);
  expect(done).toContain("drop");
  expect(done.filter((step) => step.startsWith("begin"))).toEqual(["begin with a.1 b.1"]);
});

test.each<[string, Partial<World>]>([
  ["more take tasks than are known to live", { queue: { ready: 0, consumers: 2 } }],
  ["it cannot be seen how many take tasks", { queue: null }],
  ["all are gone", { gone: [`${A}.1`, `${B}.1`], queue: { ready: 0, consumers: 0 } }],
])("None begins where the broker cannot reach one that may live: %s", async (_what, more) => {
  const { during } = inWorld({ ...shaken(), ...more });
  expect(await during(60_000)).toEqual([expect.stringMatching(/^ask/), "drop"]);
});

test("A proof that began before something was lost leaves that to the next: it has not judged what was sent last", async () => {
  const { prover, world, during } = inWorld({ proof: proofOf({ answered: [`${A}.1`, `${B}.1`] }) });
  prover.booksAreBehind(["default"]);
  expect(await during(FIRST_LOOK_MS)).toEqual(["conclude"]);
  world.isUrgent = false; // a routine look would come in ten minutes
  expect(await during(10_000)).toEqual([]);
  expect(await during(10_000)).toEqual(["begin with a.1 b.1", "marker"]);
});
