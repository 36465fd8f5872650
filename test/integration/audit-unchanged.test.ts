import type { AuditEntry, TaskId } from "@unacked/contracts";
import { beforeEach, describe, expect, test } from "vitest";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { PostgresTaskBulkStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/task-bulk-store.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import type { Called } from "../support/rest/rest-client.ts";
import { Takers } from "../support/rest/takers.ts";
import { putObserver, putRunning, putService, SOMEBODY } from "../support/servers/books.ts";
import { interrupted } from "../support/servers/interrupted.ts";

/* Who asks for what is so already is answered as ever, and leaves no entry in the audit trail; each thing counts once. */

const { books, manager } = useHttpManager({
  emptied: "observers, services, commands, tasks, ended_tasks, task_types, task_figure_deltas, flows, audit",
});

let takers: Takers;

beforeEach(async () => {
  takers = new Takers((method, path, options) => manager.call(method, path, options));
  await manager.call("PATCH", "/api/v1/task-types/paint", { json: { outside: true } });
});

async function call(method: string, path: string, json?: object): Promise<Called> {
  const answer = await manager.call(method, `/api/v1${path}`, { ...(json && { json }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer;
}

const entriesOf = async (action: string): Promise<AuditEntry[]> => (await call("GET", `/audit?action=${action}`)).body.items;
const countOf = async (action: string): Promise<number> => (await entriesOf(action)).length;

/** Answered alike each time; @returns how many entries that has left */
async function askTwice(action: string, method: string, path: string, json?: object): Promise<number> {
  const before = await countOf(action);
  const [first, again] = [await call(method, path, json), await call(method, path, json)];
  expect(again.status).toBe(first.status);
  return (await countOf(action)) - before;
}

describe("One entry is left by two who ask the same", () => {
  test("of a service: to drain, to be cordoned, to take work again, whether it has answered or not", async () => {
    await putService(books.dataSource, { name: "alpha", features: JSON.stringify(["balance"]) });
    const answers = (drain: string) => books.dataSource.query("UPDATE services SET drain = $1", [drain]);
    for (const [order, answered] of [
      ["drain", "begun"],
      ["uncordon", "none"],
      ["cordon", "cordoned"],
    ] as const) {
      expect(await askTwice(`service.${order}`, "POST", `/services/alpha/${order}`), order).toBe(1);
      await answers(answered);
      expect(await askTwice(`service.${order}`, "POST", `/services/alpha/${order}`), order).toBe(0);
    }
  });

  test("of a service, to load its folder: each asks for another load", async () => {
    await putService(books.dataSource, { name: "alpha", features: JSON.stringify(["reload"]) });
    expect(await askTwice("service.reload", "POST", "/services/alpha/reload")).toBe(2);
  });

  test("to cancel a flow", async () => {
    const { id } = (await call("POST", "/flows", { stages: ["paint"] })).body;
    const { reason } = (await call("POST", `/flows/${id}/cancel`)).body;
    expect((await call("POST", `/flows/${id}/cancel`)).body).toMatchObject({ cancelling: true, reason });
    expect(await countOf("flow.cancel")).toBe(1);
  });

  test("to cancel a task that runs; but one more where that drops what was to come after it", async () => {
    const { id } = await takers.create({ key: "wall" });
    await takers.takeOne();
    expect(await askTwice("task.cancel", "DELETE", `/tasks/${id}`)).toBe(1);
    await takers.create({ key: "wall", onConflict: "queue-latest" });
    expect(await askTwice("task.cancel", "DELETE", `/tasks/${id}`)).toBe(1);
  });

  test("to cancel many tasks at once", async () => {
    const { id } = await takers.create();
    await takers.takeOne();
    const bulk = new PostgresTaskBulkStore(books.dataSource);
    const ids = [id as TaskId];
    for (const by of [1, 2])
      expect(await bulk.cancelMany(ids, { ids }, newAction("task.cancel", SOMEBODY)), `${by}`).toMatchObject({
        accepted: 1,
      });
    expect(await countOf("task.cancel")).toBe(1);
  });

  test("to change a task's priority", async () => {
    const { id } = await takers.create();
    expect(await askTwice("task.change", "PATCH", `/tasks/${id}`, { priority: 7 })).toBe(1);
    expect(await takers.get(id)).toMatchObject({ priority: 7 });
  });

  test("to limit a task type, or to lift a limit that nobody has set", async () => {
    await takers.create(); // so that the type is known without a limit
    const ask = (change: object) => askTwice("task-type.change", "PATCH", "/task-types/paint", change);
    expect(await ask({ maxRunning: 3 })).toBe(1);
    expect(await ask({ paused: false })).toBe(0);
    expect(await ask({ maxRunning: null, outside: false })).toBe(1);
    expect(await ask({ maxRunning: null })).toBe(0);
  });

  test("to pause an observer, or many of which some are paused already", async () => {
    const id = await putObserver(books.dataSource, { name: "a", status: "Paused" });
    expect(await askTwice("observer.pause", "POST", `/observers/${id}/pause`)).toBe(0);
    await putRunning(books.dataSource, { name: "b" });
    expect((await call("POST", "/observers/pause", { all: true })).body).toMatchObject({ matched: 2, accepted: 2 });
    expect(await entriesOf("observer.pause")).toMatchObject([{ count: 1, targets: [{ name: "b" }] }]);
    expect((await call("POST", "/observers/pause", { all: true })).body).toMatchObject({ matched: 2, accepted: 2 });
    expect(await countOf("observer.pause")).toBe(1);
  });
});

test("A task says itself who has cancelled it, also with many others, until it runs again", async () => {
  const all = await Promise.all(Array.from({ length: 13 }, () => takers.create()));
  const { id: running } = await takers.takeOne();
  const [one = "", ...others] = all.map(({ id }) => id).filter((id) => id !== running);
  const first = await manager.call("DELETE", `/api/v1/tasks/${one}`, { headers: { "x-request-id": "r-1" } });
  expect(first.body).toMatchObject({ status: "Cancelled", cancelled: { by: "anonymous", requestId: "r-1" } });
  const json = { filter: { type: "paint" } };
  await manager.call("POST", "/api/v1/tasks/cancel", { json, headers: { "x-request-id": "r-2" } });
  const told = { by: "anonymous", requestId: "r-2" };
  for (const id of others) expect(await takers.get(id)).toMatchObject({ status: "Cancelled", cancelled: told });
  await call("DELETE", `/tasks/${running}`);
  expect(await takers.get(running)).toMatchObject({ status: "Running", cancelling: true, cancelled: told });
  // The trail names ten of them.
  const found = await Promise.all(others.map((id) => call("GET", `/audit?target=${id}&action=task.cancel`)));
  expect(found.filter(({ body }) => body.total === 1)).toHaveLength(10);
  await call("POST", `/tasks/${one}/retry`);
  expect(await takers.get(one)).toMatchObject({ status: "Ready", cancelled: null });
});

test("Of two who retry a task at once the one leaves an entry who does it", async () => {
  const { id } = await takers.create();
  await takers.fail(await takers.takeOne(), { retryable: false });
  const retries = new PostgresTaskStore(
    interrupted(
      books.dataSource,
      (text) => text.includes("FROM ended_tasks WHERE id = ANY($1) AND status = ANY($2)"),
      () => call("POST", `/tasks/${id}/retry`),
    ),
  );
  expect(await retries.retry(id as TaskId, newAction("task.retry", SOMEBODY))).toMatchObject({ kind: "retried" });
  expect(await entriesOf("task.retry")).toMatchObject([{ actor: { name: "anonymous" } }]);
});

test("One that is meant twice, by its id and by its name, counts once", async () => {
  const id = await putRunning(books.dataSource, { name: "a" });
  const { body } = await call("POST", "/observers/restart", { ids: [id], names: ["a"] });
  expect(body.results).toMatchObject([{ status: 202 }, { status: 202 }]);
  expect(await entriesOf("observer.restart")).toMatchObject([{ count: 1, targets: [{ id, name: "a" }] }]);
});

test("What was set to false is told as what else was asked, and a flag that was not set is not", async () => {
  await call("PATCH", "/task-types/paint", { paused: true });
  await call("PATCH", "/task-types/paint", { paused: false });
  expect((await entriesOf("task-type.change"))[0]?.details).toEqual({ paused: false });
  await takers.create();
  await call("POST", "/tasks/cancel", { filter: { type: "paint" } });
  expect((await entriesOf("task.cancel"))[0]?.details).toEqual({ filter: { type: "paint" } });
  await putRunning(books.dataSource, { name: "a" });
  await call("DELETE", "/observers/a");
  expect((await entriesOf("observer.stop"))[0]?.details).toEqual({});
});
