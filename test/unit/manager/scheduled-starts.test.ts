import { expect, it, vi } from "vitest";
import type { BooksStore } from "../../../services/observer-manager/src/operations/books/books-store.ts";
import type { Log } from "../../../services/observer-manager/src/operations/log.ts";
import { ScheduledStarts } from "../../../services/observer-manager/src/operations/observers/scheduled-starts.ts";
import { Scene } from "./books-fixture.ts";

it("One that finds no worker at its time is told of once, however often it is tried, and the dispatcher is left alone", async () => {
  const scene = new Scene();
  const { id } = scene.observer({ status: "Scheduled" });
  const tx = {
    loadObservers: async () => ({ books: scene.books }),
    lockPool: async () => undefined,
    freeWorkers: async () => ({ ofPool: 0, ofType: new Map() }),
  };
  const books = { inTransaction: (act: (given: typeof tx) => unknown) => act(tx) } as unknown as BooksStore;
  const lines: object[] = [];
  const log = { info: (fields: object) => lines.push(fields) } as unknown as Log;
  const putOff = vi.fn(async () => (putOff.mock.calls.length === 1 ? 1 : 0));
  const committed = vi.fn();
  const store = { nextDueInMs: async () => 0, due: async () => [{ id, whenFull: "reject" as const }], putOff };
  const starts = new ScheduledStarts({ store, books, isReady: () => true, committed, log });
  starts.start();
  await vi.waitFor(() => expect(putOff.mock.calls.length).toBeGreaterThan(3));
  await starts.stop();
  expect(lines).toEqual([{ event: "start-put-off", observers: 1 }]);
  expect(committed).not.toHaveBeenCalled();
});
