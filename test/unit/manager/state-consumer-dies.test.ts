import { newMessageId, newObserverId, newRunId, newServiceId } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StateConsumer } from "../../../services/observer-manager/src/adapters/amqp/state/state-consumer.ts";
import { Ledger } from "../../../services/observer-manager/src/operations/books/ledger.ts";
import { Dying, deathsIn } from "../../support/ports/dying.ts";
import { MemoryBooks, messageId } from "../../support/ports/memory-books.ts";
import { MemoryQueue } from "../../support/ports/memory-queue.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const tally = { applied() {}, putAside() {}, sent() {} };
const [observerId, runId, serviceId, markerId] = [newObserverId(), newRunId(), newServiceId(), newMessageId()];

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** The state queue and the books, and what a manager does beside them. */
class World {
  readonly books = new MemoryBooks();
  readonly queue = new MemoryQueue();
  readonly markersRead: string[] = [];
  born = 0;
  readonly flaws: string[] = [];

  constructor() {
    this.books.put({ id: observerId });
    const batch = { kind: "EventBatch", serviceId, serviceName: "s", pool: "default", workerCount: 2, generation: 1 };
    const run = { observerId, runId, messageId: messageId(1), revision: 1, at: 1_000, attempt: 1 };
    const born = { version: "1", host: "h", pid: 1, heartbeatMs: 1_000, types: [], features: [], draining: false };
    const birth = { kind: "ServiceBorn", at: 1, pool: "default", workerCount: 2, ...born };
    this.queue.publish({ ...batch, seq: 1, events: [birth, { kind: "RunStarted", ...run }] });
    this.queue.publish("{", messageId(2));
    this.queue.publish({ kind: "StateMarker", markerId, pool: "default" });
    this.queue.publish({ kind: "DeathCertificate", serviceId, generation: 1 });
  }

  /** One manager consumes until nothing is left to be done, or until it dies. */
  async consume(process = new Dying(Number.POSITIVE_INFINITY, "after")): Promise<void> {
    const { committed, markerRead, born } = process.port({
      committed: () => undefined,
      markerRead: async (ids: string[]) => {
        // Its meaning: the books have read what stood before it in the queue.
        if (!this.books.tables.runs.has(runId)) this.flaws.push("a marker was read before what stood before it");
        this.markersRead.push(...ids);
      },
      born: () => {
        this.born += 1;
      },
    });
    const ledger = new Ledger(this.books.of(process), "a manager", tally);
    const consumer = new StateConsumer({ ledger, log, tracing: undefined, committed, markerRead, born });
    await consumer.begin(this.queue.session(process));
    // A death has its turn after a second.
    for (let second = 0; second < 3; second += 1) await vi.advanceTimersByTimeAsync(1_000);
  }
}

vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
const deaths = await deathsIn((process) => new World().consume(process));
vi.useRealTimers();

describe("a consumer of the state queue", () => {
  it("acks all once it stands in the books", async () => {
    const world = new World();
    await world.consume();
    expect([world.queue.size, world.markersRead, world.born]).toEqual([0, [markerId], 1]);
    const { runs, errors, services } = world.books.tables;
    expect([[...runs.values()].map(({ state }) => state), errors.length]).toEqual([["Ended"], 1]);
    expect(services.get(serviceId)?.state).toBe("Gone");
  });

  it("lets go of what it has acked, as others of its batch are still to be applied", async () => {
    const world = new World();
    await world.consume();
    expect(world.queue.given.map(({ body }) => body.length)).toEqual([0, 0, 0, 0]);
  });

  it.each(deaths)(
    "that dies $when $step ($at) leaves what it has not acked, and its successor makes the same of it",
    async ({ at, when }) => {
      const [world, undisturbed] = [new World(), new World()];
      await undisturbed.consume();
      const process = new Dying(at, when);
      await world.consume(process);
      await process.died;
      await world.consume();
      expect(world.books.seen()).toEqual(undisturbed.books.seen());
      expect(world.queue.size).toBe(0);
      expect(new Set(world.markersRead)).toEqual(new Set([markerId]));
      expect(world.flaws).toEqual([]);
    },
  );
});
