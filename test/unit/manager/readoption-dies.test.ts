import { newMessageId, newObserverId, newRunId, newServiceId, type ObserverId } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import type { ErrorBook, NewError } from "../../../services/observer-manager/src/operations/books/books-store.ts";
import { Readoption } from "../../../services/observer-manager/src/operations/observers/readoption.ts";
import { Dying, deathsIn } from "../../support/ports/dying.ts";
import { MemoryBooks, messageId } from "../../support/ports/memory-books.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const tally = { applied() {}, putAside() {}, sent() {} };
const [lost, namesake, unordered, serviceId] = [newObserverId(), newObserverId(), newObserverId(), newServiceId()];
const RETRY = { maxAttempts: 3, delaysMs: [1_000], resetAfterMs: 60_000 };

/** The report of a service that was told to stop what the books did not know. */
function reportOf(
  id: ObserverId,
  name: string,
  n: number,
  place: object = {},
): NewError & { runId: NonNullable<NewError["runId"]> } {
  const start = { observerId: id, revision: 3, messageId: messageId(n), name, type: "ticker", params: {}, labels: {} };
  const body = JSON.stringify({ ...start, ...place, retry: RETRY, pool: "default", createdAt: new Date().toISOString() });
  const about = { detail: "unknown", queue: "unacked.work.default", observerId: id, runId: newRunId(), reporter: serviceId };
  return { reason: "unknown-observer", ...about, body, bodyBytes: body.length, messageId: messageId(100 + n) };
}

const [ofLost, ofNamesake, ofUnordered] = [
  reportOf(lost, "gold", 1, { fencingToken: 5_000, checkpoint: { number: 7, value: '{"n":7}' } }),
  reportOf(namesake, "silver", 2, { fencingToken: 9_000 }),
  reportOf(unordered, "copper", 3),
];
const another: NewError = { ...ofLost, reason: "retries-used-up", messageId: messageId(104), body: "{}" };
const REPORTS = [ofLost, another, ofNamesake, ofUnordered];

/** Restored from a backup: the books have ordered two of these runs to stop, and another observer is called silver by now. */
function newBooks(): MemoryBooks {
  const books = new MemoryBooks();
  books.put({ id: messageId(9) as string as ObserverId, name: "silver" });
  for (const [n, id, { runId }] of [
    [1, lost, ofLost],
    [2, namesake, ofNamesake],
  ] as const) {
    const order = { observerId: id, messageId: messageId(n), revision: 3, serviceId, serviceName: "s", pool: "default" };
    books.tables.unknownRuns.set(runId, order);
  }
  return books;
}

/** As the consumer of the errors gives them: whatever it does not ack comes again. */
async function record(books: MemoryBooks, reports: NewError[], process?: Dying): Promise<void> {
  const store = process === undefined ? books : books.of(process);
  const errors: ErrorBook = {
    record: (all) => (all.length === 0 ? Promise.resolve() : store.inTransaction((tx) => tx.recordErrors(all))),
  };
  const { committed } = process?.port({ committed: () => undefined }) ?? { committed: () => undefined };
  await new Readoption({ store, errors, retentionMs: 3_600_000, committed, tally, log }).record(reports);
}

const seen = (books: MemoryBooks) => ({
  ...books.seen(),
  names: [...books.tables.observers.values()].map(({ name, revision }) => `${name} ${revision}`),
  starts: [...books.tables.commands.keys()].toSorted(),
});

describe("a readoption", async () => {
  it("takes back what these books ordered to stop, starts it with a higher revision, and says so", async () => {
    const books = newBooks();
    await record(books, REPORTS);
    expect(seen(books)).toMatchObject({
      names: ["silver 1", "gold 4", `silver-${namesake.slice(-8)} 4`],
      starts: [lost, namesake].map((id) => `start ${id}`).toSorted(),
    });
    const { actions, errors } = books.tables;
    expect(actions.map(({ action, count }) => [action.kind, count])).toEqual([["observer.take-back", 2]]);
    expect(errors.map(({ detail }) => detail.split(":")[0])).toEqual([
      "unknown",
      "not taken back",
      "taken back under another name",
    ]);
  });

  it("keeps where a run has got to: its checkpoint, under a token above its own", async () => {
    const books = newBooks();
    await record(books, REPORTS);
    const { checkpoints, observers } = books.tables;
    expect([...checkpoints]).toEqual([[lost, { fencingToken: 6_000, number: 7, json: '{"n":7}' }]]);
    expect([lost, namesake].map((id) => observers.get(id)?.fencingToken)).toEqual([6_000, 10_000]);
  });

  it.each([
    [
      "a checkpoint that is too long",
      { fencingToken: 5_000, checkpoint: { number: 7, value: `"${"x".repeat(65_536)}"` } },
      6_000,
    ],
    ["one that is no JSON", { fencingToken: 5_000, checkpoint: { number: 7, value: "{" } }, 6_000],
    ["one with a NUL", { fencingToken: 5_000, checkpoint: { number: 7, value: '"\0"' } }, 6_000],
    ["one without a number", { fencingToken: 5_000, checkpoint: { value: "7" } }, 6_000],
    ["one of no fencing token", { checkpoint: { number: 7, value: "7" } }, null],
    ["a token that is none", { fencingToken: "5000", checkpoint: { number: 7, value: "7" } }, null],
    ["a token that leaves no room above it", { fencingToken: 2 ** 53 - 1, checkpoint: { number: 7, value: "7" } }, null],
  ])("takes one back without what is wrong in its report: %s", async (_, place, fencingToken) => {
    const books = newBooks();
    await record(books, [{ ...reportOf(lost, "gold", 1, place), runId: ofLost.runId }]);
    expect(seen(books)).toMatchObject({ names: ["silver 1", "gold 4"], starts: [`start ${lost}`], checkpoints: [] });
    expect(books.tables.observers.get(lost)?.fencingToken).toBe(fencingToken);
    expect(books.tables.errors).toEqual([]);
  });

  it("takes one back with what it saved, however deep: nobody reads it but its type", async () => {
    const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
    const books = newBooks();
    const place = { fencingToken: 5_000, checkpoint: { number: 7, value: deep } };
    await record(books, [{ ...reportOf(lost, "gold", 1, place), runId: ofLost.runId }]);
    expect(books.tables.checkpoints.get(lost)?.json).toBe(deep);
  });

  it("takes one back from where the run had got to that was admitted, and not from one of the same message that was not", async () => {
    const books = newBooks();
    await record(books, [{ ...reportOf(lost, "gold", 1), runId: ofLost.runId }, ofLost]);
    expect(books.tables.checkpoints.get(lost)?.json).toBe('{"n":7}');
  });

  it.each(await deathsIn((process) => record(newBooks(), REPORTS, process)))(
    "that dies $when $step ($at) leaves a successor that takes back each once, with one entry of the audit trail and of the errors",
    async ({ at, when }) => {
      const [books, undisturbed] = [newBooks(), newBooks()];
      await record(undisturbed, REPORTS);
      const process = new Dying(at, when);
      void record(books, REPORTS, process);
      await process.died;
      await record(books, REPORTS);
      expect(seen(books)).toEqual(seen(undisturbed));
    },
  );

  it("leaves one alone that is there: two managers that were given the same report record it once", async () => {
    const books = newBooks();
    await record(books, REPORTS);
    const once = seen(books);
    await record(books, [{ ...ofLost, messageId: newMessageId() }]);
    expect(seen(books)).toEqual(once);
  });
});
