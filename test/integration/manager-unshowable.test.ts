import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { fitting } from "../../services/observer-manager/src/adapters/http/server/fitting-rows.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { putObserver, putService } from "../support/servers/books.ts";

/* Rows that somebody has changed by hand, so that no answer can show them: they cost nobody the others. */

const { books, manager } = useHttpManager({ emptied: "observers, services, tasks" });

test("A row that cannot be shown is left out of its list, and both the answer and the log say so", async () => {
  const [good, bad] = [await putObserver(books.dataSource), await putObserver(books.dataSource)];
  await books.dataSource.query(`UPDATE observers SET labels = '{"a": 5}' WHERE id = $1`, [bad]);
  const { status, body, headers } = await manager.call("GET", "/api/v1/observers");
  expect([status, body.items.map(({ id }: { id: string }) => id)]).toEqual([200, [good]]);
  expect(body.total).toBe(2);
  expect(headers.get("unacked-left-out")).toBe("1");
  const rows = [{ row: bad, why: expect.stringContaining("labels.a") }];
  expect(manager.lines).toContainEqual(
    expect.objectContaining({
      level: "error",
      fields: expect.objectContaining({ operation: "listObservers", rows }),
    }),
  );
  expect((await manager.call("GET", `/api/v1/observers/${good}`)).status).toBe(200);
  expect((await manager.call("GET", `/api/v1/observers/${bad}`)).status).toBe(500);
});

test("So it is from the columns that the page reads", async () => {
  const ids = [
    await putObserver(books.dataSource),
    await putObserver(books.dataSource),
    await putObserver(books.dataSource),
  ];
  await books.dataSource.query(`UPDATE observers SET labels = '{"a": null}' WHERE id = $1`, [ids[1]]);
  const { status, body, headers } = await manager.call("GET", "/api/v1/observer-columns");
  expect([status, body.columns.id.toSorted()]).toEqual([200, [ids[0], ids[2]].toSorted()]);
  for (const column of Object.values(body.columns)) expect(column).toHaveLength(2);
  expect(headers.get("unacked-left-out")).toBe("1");
});

test("What became of each of many stays in its place, and what cannot be shown is a problem there", async () => {
  await putService(books.dataSource);
  const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
  const tasks = [a, b, c].map((id) => ({ id, type: "count" }));
  expect((await manager.call("POST", "/api/v1/tasks", { json: tasks[0] })).status).toBe(201);
  await books.dataSource.query(`UPDATE tasks SET last_error = '{"name": 5}' WHERE id = $1`, [a]);
  const { status, body, headers } = await manager.call("POST", "/api/v1/tasks/batch", { json: { tasks } });
  expect([status, headers.has("unacked-left-out")]).toEqual([200, false]);
  expect(body.results).toMatchObject([
    { status: 500, problem: { code: "internal-error", detail: "The result cannot be shown" } },
    { status: 201, task: { id: b } },
    { status: 201, task: { id: c } },
  ]);
  expect(manager.lines).toContainEqual(
    expect.objectContaining({ level: "error", fields: expect.objectContaining({ operation: "createTasks" }) }),
  );
});

test("What is wrong elsewhere than in a row is our error, as it was", () => {
  const standIn = () => ({});
  const schema = z.object({ items: z.array(z.object({ id: z.string() })), total: z.int() });
  expect(() => fitting(schema, { items: [{ id: 5 }], total: "many" }, standIn)).toThrow("total");
  expect(() => fitting(schema, { items: "none", total: 1 }, standIn)).toThrow("items");
  const deep = z.object({ of: z.object({ name: z.string(), ids: z.array(z.string()) }) });
  expect(() => fitting(deep, { of: { name: "a", ids: [5] } }, standIn)).toThrow("ids");
  expect(fitting(schema, { items: [{ id: 5 }, { id: "a" }], total: 2 }, standIn)).toEqual({
    body: { items: [{ id: "a" }], total: 2 },
    leftOut: [{ row: 5, why: expect.stringContaining("id: ") }],
    replaced: [],
  });
});

test("Where all are well, nothing is said", async () => {
  await putObserver(books.dataSource, { name: `o-${randomUUID()}` });
  expect((await manager.call("GET", "/api/v1/observers")).headers.has("unacked-left-out")).toBe(false);
});
