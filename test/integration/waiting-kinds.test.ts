import { beforeEach, expect, test, vi } from "vitest";
import { elsewhere, WaitingKinds } from "../../services/observer-manager/src/adapters/postgres/tasks/takes/waiting-kinds.ts";
import { eventually } from "../support/eventually.ts";
import { useBooks } from "../support/servers/books.ts";
import { putReady } from "../support/system/waiting-tasks.ts";

const books = useBooks("tasks");

let query: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  query = vi.spyOn(books.dataSource, "query");
  return () => query.mockRestore();
});

test("What waits is looked for once for all who ask, and is known a second later", async () => {
  await putReady(books.dataSource, 2, { type: "paint", pool: "walls" });
  const kinds = new WaitingKinds(books.dataSource);
  query.mockClear();
  const paint = { type: "paint", pool: "walls" };
  const asked = await Promise.all(Array.from({ length: 1_000 }, () => kinds.get()));
  expect(asked).toEqual(Array.from({ length: 1_000 }, () => [paint]));
  expect(query).toHaveBeenCalledTimes(1);
  const attic = { type: "paint", pool: "attic" };
  await putReady(books.dataSource, 1, attic);
  await eventually(async () => expect(await kinds.get()).toEqual([attic, paint]));
});

test("A look that fails is told to those who wait for it, and done again for the next", async () => {
  const kinds = new WaitingKinds(books.dataSource);
  query.mockRejectedValueOnce(new Error("the connection is gone"));
  const asked = await Promise.allSettled([kinds.get(), kinds.get()]);
  expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await kinds.get()).toEqual([]);
});

test("A type is elsewhere where it waits in other pools only", () => {
  const kinds = [
    { pool: "attic", type: "sketch" },
    { pool: "ceilings", type: "paint" },
    { pool: "default", type: "sketch" },
    { pool: "walls", type: "paint" },
  ];
  const asked = { pool: "default", types: ["sketch", "paint", "none"] };
  expect(elsewhere(kinds, asked)).toEqual([{ type: "paint", pool: "ceilings" }]);
});
