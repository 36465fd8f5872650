import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { writeCheckpoints } from "../../services/observer-manager/src/adapters/postgres/books/checkpoint-writes.ts";
import type { Books } from "../../services/observer-manager/src/domain/books/books.ts";
import { insert, putObserver, useBooks } from "../support/servers/books.ts";

/* Where runs have got to, by what their services tell, in whatever order. */

const books = useBooks("observers, runs, checkpoints, commands");

interface Run {
  id: string;
  observerId: string;
  fencingToken: number;
}

/** A run of that observer, in the books as one that goes on. */
async function putRun(observerId: string, fencingToken: number, state = "Current"): Promise<Run> {
  const id = randomUUID();
  const place = { service_id: randomUUID(), generation: 1, message_id: randomUUID(), revision: 1, epoch: fencingToken };
  const ended = state === "Ended" ? { ended_at: new Date(), end_reason: "service-gone" } : {};
  await insert(books.dataSource, "runs", {
    ...{ id, observer_id: observerId, ...place, fencing_token: fencingToken, state, started_at: new Date() },
    ...ended,
  });
  return { id, observerId, fencingToken };
}

interface Told {
  saved?: [Run, number, string][];
  given?: Run[];
  started?: [Run, number][];
}

/** All of one set of messages. */
async function write({ saved = [], given = [], started = [] }: Told): Promise<void> {
  const told = {
    savedCheckpoints: new Map(saved.map(([{ id, ...run }, number, value]) => [id, { ...run, number, value }])),
    givenCheckpoints: new Map(given.map(({ id, observerId }) => [id, observerId])),
    runs: new Map(given.map((run) => [run.id, run])),
    startedSavers: new Map(started.map(([{ id, ...run }, number]) => [id, { ...run, number }])),
  } as unknown as Books;
  await books.dataSource.transaction((tx) => writeCheckpoints(tx, told));
}

const save = (run: Run, number: number, value: string) => write({ saved: [[run, number, value]] });

async function of({ id }: Run): Promise<string | undefined> {
  const [row] = await books.dataSource.query(
    "SELECT number, value, previous_number AS previous FROM checkpoints WHERE run_id = $1",
    [id],
  );
  return row && `${row.number} ${row.value}, before it ${row.previous}`;
}

test("A checkpoint that comes late, of a redelivery, does not replace a newer one; the one before is kept", async () => {
  const run = await putRun(await putObserver(books.dataSource), 1);
  await save(run, 1, "one");
  await save(run, 2, "two");
  await save(run, 1, "one");
  expect(await of(run)).toBe("2 two, before it 1");
  await save(run, 2, "two");
  expect(await of(run)).toBe("2 two, before it 1");
  // Of the same number, and another: the one there is of before a reset that restored books do not know.
  await save(run, 2, "another two");
  expect(await of(run)).toBe("2 another two, before it 2");
});

test("A run is given what the last one before it has saved: of none after it, and of none that has not begun", async () => {
  const observerId = await putObserver(books.dataSource);
  const [before, last, after] = [await putRun(observerId, 1), await putRun(observerId, 5), await putRun(observerId, 9)];
  await write({
    saved: [
      [before, 7, "before"],
      [last, 8, "last"],
      [after, 9, "after"],
    ],
  });
  const [waiting, asks] = [await putRun(observerId, 6), await putRun(observerId, 7)];
  await write({ given: [waiting] });
  expect(await of(waiting)).toBe("8 last, before it null");
  await books.dataSource.query("UPDATE checkpoints SET value = 'of nobody' WHERE run_id = $1", [waiting.id]);
  await write({ given: [asks] });
  expect(await of(asks)).toBe("8 last, before it null");
});

test("What has begun keeps what it has saved, also where it is given something once more", async () => {
  const observerId = await putObserver(books.dataSource);
  const [before, run] = [await putRun(observerId, 1), await putRun(observerId, 2)];
  await save(before, 3, "before");
  await write({ given: [run] });
  await write({ started: [[run, 3]] });
  await save(run, 4, "own");
  await write({ given: [run] });
  expect(await of(run)).toBe("4 own, before it 3");
});

test("As a run starts, that of runs before it which are over is forgotten: not of one that goes on, nor of one after it", async () => {
  const observerId = await putObserver(books.dataSource);
  const [over, goesOn, unknown, after] = [
    await putRun(observerId, 1, "Ended"),
    await putRun(observerId, 2),
    { id: randomUUID(), observerId, fencingToken: 3 },
    await putRun(observerId, 9),
  ];
  const elsewhere = await putRun(await putObserver(books.dataSource), 1, "Ended");
  const all = [over, goesOn, unknown, after, elsewhere];
  await write({ saved: all.map((run, number) => [run, number + 1, "x"]) });
  const run = await putRun(observerId, 5);
  await write({ started: [[run, 3]] });
  const left = await Promise.all(all.map(async (one) => (await of(one)) !== undefined));
  expect(left).toEqual([false, true, false, true, true]);
  expect(await of(run)).toBe("3 x, before it null");
});

test("A run that was not given anything here begins with nothing where all that is known has a higher number than it says", async () => {
  const observerId = await putObserver(books.dataSource);
  const before = await putRun(observerId, 1);
  await save(before, 8, "of before a reset");
  const run = await putRun(observerId, 2);
  await write({ started: [[run, 2]] });
  expect(await of(run)).toBe("0 null, before it null");
  // It is asked what it has.
  const asked = await books.dataSource.query("SELECT kind, run_id AS id FROM commands");
  expect(asked).toEqual([{ kind: "tell-checkpoint", id: run.id }]);
});
