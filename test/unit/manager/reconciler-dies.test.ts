import { newObserverId, newServiceId, type ObserverId } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Sighting } from "../../../services/observer-manager/src/domain/observers/absence.ts";
import {
  Reconciler,
  type ReconcilerParts,
  type ReconcilerStore,
} from "../../../services/observer-manager/src/operations/observers/reconciler.ts";
import { Dying, deathsIn } from "../../support/ports/dying.ts";
import { MemoryBooks } from "../../support/ports/memory-books.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const CLOCKS = {
  toFake: ["setTimeout", "clearTimeout", "performance"] as ("setTimeout" | "clearTimeout" | "performance")[],
};
const [lost, leaving, resting] = [newObserverId(), newObserverId(), newObserverId()];
const serviceId = newServiceId();

beforeEach(() => void vi.useFakeTimers(CLOCKS));
afterEach(() => void vi.useRealTimers());

/** A pool with one service. Its broker has lost the messages of two observers, of which one is being deleted. */
class World implements ReconcilerStore {
  readonly books = new MemoryBooks();
  readonly service = {
    id: serviceId,
    generation: 1,
    isSuspect: false,
    consumes: true,
    inventoryAtMs: null as number | null,
  };
  #atMs = 1_000;
  /** Messages that wait in the work queue. */
  ready = 0;
  isAsked = false;
  readUntilMs: number | null = null;
  #markedAtMs: number | null = null;
  /** The active manager stands still with what it was given. */
  isHeld = false;
  /** What the service counts besides what the books say. */
  miscounted = 0;

  constructor() {
    this.books.put({ id: lost });
    this.books.put({ id: leaving, status: "OnDeleting" });
    this.books.put({ id: resting, status: "Created", pending: "pause" });
  }

  #suspects(): Map<string, string> {
    const { observers, commands } = this.books.tables;
    const inDoubt = [...observers.values()].filter(
      ({ id, status, currentRunId }) =>
        status !== "Deleted" && status !== "Paused" && currentRunId === null && !commands.has(`start ${id}`),
    );
    return new Map(inDoubt.map(({ id, mark }) => [id, String(mark)]));
  }

  async sendKnownStarts(): Promise<number> {
    return 0;
  }

  async poolsInDoubt(): Promise<string[]> {
    return this.#suspects().size > 0 ? ["default"] : [];
  }

  async sight(): Promise<Pick<Sighting, "suspects" | "services" | "readUntilMs" | "atMs">> {
    this.#atMs += 10;
    const { readUntilMs } = this;
    return { suspects: this.#suspects(), services: [{ ...this.service }], readUntilMs, atMs: this.#atMs };
  }

  setClockBack(byMs: number): void {
    this.#atMs -= byMs;
  }

  advance = async (): Promise<boolean> => false;
  clear = async (): Promise<void> => undefined;

  async mark(): Promise<void> {
    this.#atMs += 10;
    this.#markedAtMs = this.#atMs;
  }

  async askInventories(): Promise<void> {
    this.isAsked = true;
  }

  async servicesThatCountOtherwise() {
    return this.miscounted === 0 ? [] : [{ id: serviceId, generation: 1, name: "s" }];
  }

  async askInventory(): Promise<void> {
    this.isAsked = true;
  }

  async look(): Promise<Pick<Sighting, "queue" | "stateQueueDepth">> {
    return { queue: { ready: this.ready, consumers: 1 }, stateQueueDepth: 0 };
  }

  /** The others do their part: a start is sent, a marker read, and an inventory given. */
  othersWork(): void {
    if (!this.isHeld) this.readUntilMs = this.#markedAtMs;
    const { commands } = this.books.tables;
    for (const [key, { kind }] of commands)
      if (kind === "start") {
        commands.delete(key);
        this.ready += 1;
      }
    if (!this.isAsked) return;
    this.isAsked = false;
    this.miscounted = 0;
    this.#atMs += 10;
    this.service.inventoryAtMs = this.#atMs;
  }

  statusOf = (id: ObserverId) => this.books.tables.observers.get(id)?.status;
}

const partsOf = (world: World, process?: Dying): ReconcilerParts => {
  const committed = () => undefined;
  return {
    store: process?.port<ReconcilerStore>(world) ?? world,
    books: process === undefined ? world.books : world.books.of(process),
    queues: process?.port({ look: () => world.look() }) ?? world,
    prover: process?.port(world) ?? world,
    mayProve: async () => false,
    mayMark: () => true,
    isCaughtUp: () => true,
    committed: process?.port({ committed }).committed ?? committed,
    log,
  };
};

/** Half a minute of one manager. */
async function reconcile(
  world: World,
  process?: Dying,
  parts: Partial<ReconcilerParts> = {},
  atSecond: (second: number) => void = () => undefined,
): Promise<Reconciler> {
  const reconciler = new Reconciler({ ...partsOf(world, process), ...parts });
  reconciler.start();
  for (let second = 0; second < 30; second += 1) {
    await vi.advanceTimersByTimeAsync(1_000);
    atSecond(second);
    world.othersWork();
  }
  void reconciler.stop();
  return reconciler;
}

const miscounting = () => Object.assign(new World(), { miscounted: 1, ready: 1 });

vi.useFakeTimers(CLOCKS);
// The first rounds, in which it asks and repairs; what follows is the same look over and over.
const deaths = (await deathsIn((process) => reconcile(new World(), process))).slice(0, 60);
const deathsOfCounts = (await deathsIn((process) => reconcile(miscounting(), process))).slice(0, 40);
vi.useRealTimers();

describe("a reconciler", () => {
  it("sends again what nobody has, and concludes the deletion and the pause of what nobody has", async () => {
    const world = new World();
    const { counts } = await reconcile(world);
    expect(counts).toEqual({
      sentAgain: 1,
      deletionsConcluded: 1,
      pausesConcluded: 1,
      sentElsewhere: 0,
      inventoriesAsked: 0,
    });
    expect([world.ready, world.statusOf(leaving), world.statusOf(resting)]).toEqual([1, "Deleted", "Paused"]);
  });

  it("tells apart what was to be in another pool: its messages went with the queue of the one before, as they should", async () => {
    const world = new World();
    world.books.put({ id: lost, pool: "other", messagePool: "default" });
    const { counts } = await reconcile(world);
    expect([counts.sentElsewhere, counts.sentAgain, world.ready]).toEqual([1, 0, 1]);
  });

  it("reaches its repair among the deaths that are tried", () => {
    expect(deaths.map(({ step }) => step)).toEqual(
      expect.arrayContaining(["look", "mark", "askInventories", "loadUnchanged", "commit"]),
    );
    expect(deathsOfCounts.map(({ step }) => step)).toContain("askInventory");
  });

  it("concludes nothing while the manager that reads holds what it was given, and does so when that is in the books", async () => {
    const world = Object.assign(new World(), { isHeld: true });
    const { counts } = await reconcile(world);
    expect([counts.sentAgain, world.ready, world.statusOf(leaving)]).toEqual([0, 0, "OnDeleting"]);
    world.isHeld = false;
    await reconcile(world);
    expect([world.ready, world.statusOf(leaving)]).toEqual([1, "Deleted"]);
  });

  it("looks once more where the database's clock was set back after the first look, and repairs then", async () => {
    const world = new World();
    await reconcile(world, undefined, {}, (second) => {
      if (second === 1) world.setClockBack(3_600_000);
    });
    expect([world.ready, world.statusOf(leaving)]).toEqual([1, "Deleted"]);
  });

  it("concludes nothing by counts while somebody may read who knows no markers", async () => {
    const world = new World();
    const { counts } = await reconcile(world, undefined, { mayMark: () => false });
    expect([counts.sentAgain, world.ready, world.statusOf(leaving)]).toEqual([0, 0, "OnDeleting"]);
  });

  it.each(deaths)("that dies $when $step ($at) leaves a successor that does so once", async ({ at, when }) => {
    const world = new World();
    const process = new Dying(at, when);
    await reconcile(world, process);
    await process.died;
    await reconcile(world);
    expect(world.books.tables.observers.get(lost)).toMatchObject({ status: "Created", revision: 2 });
    expect([world.ready, world.statusOf(leaving), world.statusOf(resting)]).toEqual([1, "Deleted", "Paused"]);
  });

  it.each(deathsOfCounts)(
    "that dies $when $step ($at) leaves a successor that asks a service that counts otherwise",
    async ({ at, when }) => {
      const world = miscounting();
      const process = new Dying(at, when);
      await reconcile(world, process);
      await process.died;
      await reconcile(world);
      expect([world.miscounted, world.isAsked]).toEqual([0, false]);
    },
  );

  it("that wakes up with what it had seen before another one repaired it changes nothing", async () => {
    const world = new World();
    const stale = new Map([lost, leaving, resting].map((id) => [id as string, "0"]));
    await reconcile(world);
    const repaired = world.books.seen();
    await new Reconciler(partsOf(world)).repair("default", [lost, leaving, resting], stale);
    expect(world.books.seen()).toEqual(repaired);
  });
});
