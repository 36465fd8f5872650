import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { goneServices } from "../../services/observer-manager/src/adapters/postgres/overview/gone-services.ts";
import { useBooks } from "../support/servers/books.ts";

const books = useBooks();

/** @param endedAgo null: it lives */
const addService = (name: string, state: string, endedAgo: string | null, startedAgo = "1 hour") =>
  books.dataSource.query(
    `INSERT INTO services (id, name, host, pool, state, generation, last_seq, worker_count, started_at, ended_at)
     VALUES ($1, $2, 'node-3', 'default', $3, 1, 1, 1, now() - $5::interval, now() - $4::interval)`,
    [randomUUID(), name, state, endedAgo, startedAgo],
  );

test("Who went without a word in the last 10 minutes is named once, until it is started again under its name", async () => {
  await addService("killed", "Gone", "3 minutes");
  await addService("killed", "Gone", "1 minute");
  await addService("ended in order", "Stopped", "1 minute");
  await addService("long ago", "Gone", "11 minutes");
  await addService("lives again", "Gone", "2 minutes");
  await addService("lives again", "Alive", null, "1 minute");
  await addService("ended in order since", "Gone", "5 minutes");
  await addService("ended in order since", "Stopped", "1 minute", "4 minutes");
  await addService("killed before", "Gone", "2 minutes");
  expect(await goneServices(books.dataSource)).toEqual([
    { name: "killed", pool: "default", host: "node-3", goneAt: expect.any(Date) },
    { name: "killed before", pool: "default", host: "node-3", goneAt: expect.any(Date) },
  ]);
});
