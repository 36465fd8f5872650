import { newObserverId, newRunId, newServiceId } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type KeptEvent,
  type NewError,
  RefusedByDatabase,
} from "../../../services/observer-manager/src/operations/books/books-store.ts";
import { LateEvents, type UnappliedStore } from "../../../services/observer-manager/src/operations/books/late-events.ts";
import { Dying, deathsIn } from "../../support/ports/dying.ts";
import { MemoryBooks, messageId } from "../../support/ports/memory-books.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const [observerId, runId, serviceId] = [newObserverId(), newRunId(), newServiceId()];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const envelope = { kind: "EventBatch", serviceId, serviceName: "s", pool: "default", workerCount: 2, generation: 1, seq: 7 };
const run = { observerId, runId, messageId: messageId(1), revision: 1, at: 1_000 };
const error = { name: "Error", message: "boom" };

/** In the order in which they came: a start, its end, one of an observer that is not there, one that no version understands yet. */
const EVENTS: object[] = [
  { kind: "RunStarted", ...run, attempt: 1 },
  { kind: "RunFailed", ...run, attempts: 3, error },
  { kind: "RunStarted", ...run, runId: newRunId(), observerId: newObserverId(), attempt: 1 },
  { kind: "RunDreams", ...run },
];

class Unapplied implements UnappliedStore {
  readonly books = new MemoryBooks();

  constructor() {
    this.books.put({ id: observerId });
    EVENTS.forEach((event, i) => {
      const about = {
        reason: "unreadable",
        detail: "kept",
        queue: "unacked.state",
        reporter: "m",
        body: "{}",
        bodyBytes: 2,
      };
      const kept: KeptEvent = {
        error: { ...(about as NewError), messageId: messageId(10 + i) },
        observerIds: [observerId],
        batch: JSON.stringify({ ...envelope, events: [event] }),
      };
      this.books.tables.errors.push(kept.error);
      this.books.tables.kept.push(kept);
    });
  }

  async readUnapplied(after: string, limit: number) {
    const rows = this.books.tables.kept.map(({ error: { messageId: id }, batch }) => ({
      id,
      batch,
      position: id.slice(-2),
    }));
    return rows.filter(({ position }) => position > after).slice(0, limit);
  }

  async giveUp(id: string): Promise<void> {
    this.books.tables.kept = this.books.tables.kept.filter((one) => one.error.messageId !== id);
  }
}

/** What one manager makes of them in its first look. */
async function look(unapplied: Unapplied, process?: Dying): Promise<void> {
  const late = new LateEvents({
    store: process?.port<UnappliedStore>(unapplied) ?? unapplied,
    books: process === undefined ? unapplied.books : unapplied.books.of(process),
    committed: () => undefined,
    log,
  });
  late.start();
  await vi.advanceTimersByTimeAsync(1);
  void late.stop();
}

vi.useFakeTimers();
const deaths = await deathsIn((process) => look(new Unapplied(), process));
vi.useRealTimers();

describe("events that an older manager kept", () => {
  it("are looked at round and round, however few the books give at a time", async () => {
    const asked: string[] = [];
    const positions = ["1", "2", "3"];
    const readUnapplied = async (after: string) => {
      asked.push(after);
      const behind = positions.filter((position) => position > after).slice(0, 2);
      return behind.map((position) => ({ id: position, position, batch: "{}" }));
    };
    const late = new LateEvents({ store: { readUnapplied }, log } as never);
    late.start();
    await vi.advanceTimersByTimeAsync(15_001);
    void late.stop();
    expect(asked).toEqual(["0", "2", "3", "0", "2"]);
  });

  it("are applied in order, and their errors go; what is not understood yet stays", async () => {
    const unapplied = new Unapplied();
    await look(unapplied);
    const { observers, runs, errors, kept } = unapplied.books.tables;
    expect(observers.get(observerId)).toMatchObject({ status: "Failed", lastError: error });
    expect(runs.get(runId)).toMatchObject({ state: "Ended", endReason: "failed" });
    expect([errors.map(({ messageId: id }) => id), kept.length]).toEqual([[messageId(13)], 1]);
  });

  it.each(deaths)("are applied once by a successor of the one that dies $when $step ($at)", async ({ at, when }) => {
    const [unapplied, undisturbed] = [new Unapplied(), new Unapplied()];
    await look(undisturbed);
    const process = new Dying(at, when);
    await look(unapplied, process);
    await process.died;
    await look(unapplied);
    expect(unapplied.books.seen()).toEqual(undisturbed.books.seen());
  });

  it.each([new RefusedByDatabase("a value too deep"), new TypeError("none of ours can read it")])(
    "are given up where they fail each time, and their error stays: %s",
    async (error) => {
      const unapplied = new Unapplied();
      const inTransaction = unapplied.books.inTransaction.bind(unapplied.books);
      let isFirst = true;
      unapplied.books.inTransaction = async (...given) => {
        if (!isFirst) return inTransaction(...given);
        isFirst = false;
        throw error;
      };
      await look(unapplied);
      const { errors, kept: left } = unapplied.books.tables;
      expect(errors.map(({ messageId: id }) => id)).toEqual([messageId(10), messageId(13)]);
      expect(left.map(({ error: { messageId: id } }) => id)).toEqual([messageId(13)]);
    },
  );
});
