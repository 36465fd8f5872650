import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { Takers } from "../support/rest/takers.ts";

const { books, manager } = useHttpManager({ emptied: "tasks, ended_tasks, task_types, task_services" });

test("A task that is created once more by its id is answered with what it is, whatever types services have by then", async () => {
  const takers = new Takers((method, path, options) => manager.call(method, path, options));
  const outside = (is: boolean) => manager.call("PATCH", "/api/v1/task-types/paint", { json: { outside: is } });
  const post = (json: object) => manager.call("POST", "/api/v1/tasks", { json: { type: "paint", params: {}, ...json } });
  await outside(true);
  const [waiting, over] = [randomUUID(), randomUUID()];
  await post({ id: over });
  await takers.complete(await takers.takeOne({ types: ["paint"] }));
  expect((await post({ id: waiting })).body.outcome).toBe("created");

  await outside(false);
  await books.dataSource.query(
    `INSERT INTO task_services (id, generation, name, pool, workers, draining, types)
     VALUES (gen_random_uuid(), 1, 'another', 'default', 1, false, '[{"type":"other","paramsSchema":{}}]')`,
  );
  const fresh = await post({ id: randomUUID() });
  expect([fresh.status, fresh.body.code]).toEqual([422, "unknown-type"]);
  for (const [id, status] of [
    [waiting, "Ready"],
    [over, "Completed"],
  ]) {
    const again = await post({ id });
    expect([again.status, again.body.outcome, again.body.status]).toEqual([200, "exists", status]);
  }
  const other = await post({ id: waiting, params: { a: 1 } });
  expect([other.status, other.body.code]).toEqual([409, "id-taken"]);
});

test("A create that is repeated is compared as JSON has it: -0 is 0, there and within a batch", async () => {
  const post = (path: string, body: string) =>
    manager.call("POST", `/api/v1/tasks${path}`, { body, headers: { "content-type": "application/json" } });
  const [one, twice] = [randomUUID(), randomUUID()];
  const textOf = (id: string, x: string) => `{"type":"paint","id":"${id}","params":{"x":${x},"all":[${x}]}}`;
  expect((await post("", textOf(one, "-0"))).body.outcome).toBe("created");
  for (const x of ["-0", "0"]) expect((await post("", textOf(one, x))).body.outcome).toBe("exists");
  const { results } = (await post("/batch", `{"tasks":[${["0", "-0"].map((x) => textOf(twice, x)).join()}]}`)).body;
  expect(results).toMatchObject([{ task: { outcome: "created" } }, { task: { outcome: "exists" } }]);
});
