import { randomUUID } from "node:crypto";
import type { ObserverStatus } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { recordErrors } from "../../services/observer-manager/src/adapters/postgres/errors/error-rows.ts";
import type { NewError } from "../../services/observer-manager/src/operations/books/books-store.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { putObserver, putRunning, putService } from "../support/servers/books.ts";

const ERRORS = "/api/v1/errors";

const { books, manager } = useHttpManager({ emptied: "observers, services, commands, errors" });

const put = (name: string, status: ObserverStatus, more: object = {}) =>
  putObserver(books.dataSource, { name, status, ...more });
const failed = (name: string, message: string, more: object = {}) =>
  put(name, "Failed", { last_error: { name: "Error", message }, last_error_at: new Date(1_000), ...more });

async function report(error: Partial<NewError> | { observerId: string }): Promise<string> {
  const whole = {
    reason: "unreadable",
    detail: "not JSON",
    queue: "q",
    messageId: randomUUID(),
    reporter: "r",
    body: "{",
    bodyBytes: 1,
  };
  await recordErrors(books.dataSource.manager, [{ ...whole, ...error } as NewError]);
  return (await manager.call("GET", `${ERRORS}?limit=1`)).body.items[0].id;
}

describe("the errors", () => {
  test("are filtered by reason, group and observer, page by page", async () => {
    const old = await put("gold", "Deleted");
    const gold = await failed("gold", "x");
    await report({ reason: "retries-used-up", detail: "Error: boom 1", observerId: old });
    await report({ reason: "retries-used-up", detail: "Error: boom 2", observerId: gold });
    await report({ reason: "bad-params", detail: "Error: boom 3" });
    await report({ detail: "NUL \0 in it" });
    const details = async (query: string) => {
      const { body, text } = await manager.call("GET", `${ERRORS}?${query}`);
      expect(body.items, text).toHaveLength(body.total);
      return body.items.map(({ detail }: { detail: string }) => detail);
    };
    expect(await details("reason=bad-params")).toEqual(["Error: boom 3"]);
    expect(await details("observer=gold")).toEqual(["Error: boom 2", "Error: boom 1"]);
    expect(await details(`observer=${gold}`)).toEqual(["Error: boom 2"]);
    expect(await details("observer=nobody")).toEqual([]);
    const group = encodeURIComponent("Error: boom <n>");
    expect(await details(`group=${group}`)).toHaveLength(3);
    expect(await details(`group=${group}&reason=retries-used-up&observer=gold`)).toHaveLength(2);
    const first = await manager.call("GET", `${ERRORS}?group=${group}&limit=2`);
    expect(first.body).toMatchObject({ total: 3, items: [{ detail: "Error: boom 3", group: "Error: boom <n>" }, {}] });
    const second = await manager.call("GET", `${ERRORS}?group=${group}&limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body.items).toMatchObject([{ detail: "Error: boom 1" }]);
    for (const query of ["reason=other", "observer=a%20b", "group=", "group=%00"])
      expect((await manager.call("GET", `${ERRORS}?${query}`)).body.code).toBe("invalid-query");
  });

  test("are counted by what they say, the most first, with an example", async () => {
    expect((await manager.call("GET", `${ERRORS}/groups`)).body).toEqual({ items: [], total: 0 });
    for (const n of [1, 2, 3]) await report({ reason: "retries-used-up", detail: `Error: no answer in ${n} ms` });
    await report({ reason: "bad-params", detail: "Error: no answer in 4 ms" });
    const newest = await report({ reason: "retries-used-up", detail: `Error: no answer in 5 ms` });
    await books.dataSource.query(
      "UPDATE errors SET at = to_timestamp(body_bytes + (SELECT count(*) FROM errors e WHERE e.id < errors.id))",
    );
    const { body } = await manager.call("GET", `${ERRORS}/groups`);
    expect(body.total).toBe(2);
    expect(body.items[0]).toEqual({
      reason: "retries-used-up",
      group: "Error: no answer in <n> ms",
      count: 4,
      exampleId: newest,
      firstSeenAt: "1970-01-01T00:00:01.000Z",
      lastSeenAt: "1970-01-01T00:00:05.000Z",
    });
    expect(body.items[1]).toMatchObject({ reason: "bad-params", count: 1 });
    expect((await manager.call("GET", `${ERRORS}/${newest}`)).body).toMatchObject({ detail: "Error: no answer in 5 ms" });
  });

  test("are removed one by one", async () => {
    const id = await report({});
    const removed = await manager.call("DELETE", `${ERRORS}/${id}`);
    expect([removed.status, removed.text]).toEqual([204, ""]);
    for (const [method, path] of [
      ["DELETE", id],
      ["GET", id],
      ["DELETE", "groups"],
      ["GET", "x"],
      ["DELETE", "99999999999999999999"],
      ["POST", `${id}/retry`],
      ["POST", "0/retry"],
    ] as const) {
      const refused = await manager.call(method, `${ERRORS}/${path}`);
      expect([refused.status, refused.body.code]).toEqual([404, "error-not-found"]);
    }
  });

  test("of a Failed observer are retried by its restart, once", async () => {
    const observerId = await failed("gold", "boom");
    const id = await report({ reason: "retries-used-up", detail: "Error: boom", observerId });
    const retried = await manager.call("POST", `${ERRORS}/${id}/retry`);
    expect(retried.status, retried.text).toBe(202);
    expect(retried.body).toMatchObject({ id: observerId, status: "Created", revision: 2 });
    expect(await books.dataSource.query("SELECT kind, revision FROM commands")).toEqual([{ kind: "start", revision: 2 }]);
    expect((await manager.call("GET", `${ERRORS}/${id}`)).status).toBe(200);
    expect((await manager.call("POST", `${ERRORS}/${id}/retry`)).body.code).toBe("not-restartable");
  });

  test("of no observer, or one that has gone on since, are not retried", async () => {
    const running = await putRunning(books.dataSource, { name: "running" });
    const cases = [
      [{}, "not-retryable"],
      [{ observerId: randomUUID() }, "observer-not-found"],
      [{ observerId: running }, "not-retryable"],
      [{ observerId: await put("over", "Completed") }, "not-retryable"],
      [{ observerId: await put("gone", "Deleted") }, "already-deleted"],
      [{ observerId: await put("going", "OnDeleting") }, "already-deleting"],
    ] as const;
    for (const [error, code] of cases) {
      const id = await report(error);
      expect((await manager.call("POST", `${ERRORS}/${id}/retry`)).body.code, JSON.stringify(error)).toBe(code);
    }
    expect(await books.dataSource.query("SELECT * FROM commands")).toEqual([]);
    const id = await report({ observerId: await failed("gold", "boom") });
    manager.setReady(false);
    expect((await manager.call("POST", `${ERRORS}/${id}/retry`)).body.code).toBe("not-ready");
  });
});

describe("the errors of observers", () => {
  test("are counted by what they say and by status, and the group is a filter of list, stop and restart", async () => {
    expect((await manager.call("GET", "/api/v1/stats/errors")).body).toEqual({ items: [], total: 0 });
    await failed("a", "no answer in 10 ms");
    await failed("b", "no answer in 2000 ms", { last_error_at: new Date(9_000) });
    const lastError = { last_error: { name: "Error", message: "no answer in 7 ms" }, last_error_at: new Date(5_000) };
    await putRunning(books.dataSource, { name: "c", status: "Retrying", ...lastError });
    await put("d", "Deleted", lastError);
    await failed("e", "something else");
    await put("f", "Completed");
    const { body } = await manager.call("GET", "/api/v1/stats/errors");
    expect(body.total).toBe(2);
    expect(body.items[0]).toMatchObject({
      group: "Error: no answer in <n> ms",
      total: 3,
      firstSeenAt: "1970-01-01T00:00:01.000Z",
      lastSeenAt: "1970-01-01T00:00:09.000Z",
      example: { name: "b", status: "Failed", lastError: { message: "no answer in 2000 ms" } },
    });
    expect(body.items[0].byStatus).toMatchObject({ Failed: 2, Retrying: 1, Processing: 0, Deleted: 0 });
    expect((await manager.call("GET", "/api/v1/observers/a")).body.lastError).toEqual({
      name: "Error",
      message: "no answer in 10 ms",
      group: "Error: no answer in <n> ms",
      at: "1970-01-01T00:00:01.000Z",
    });
    const errorGroup = body.items[0].group;
    const listed = await manager.call("GET", `/api/v1/observers?errorGroup=${encodeURIComponent(errorGroup)}`);
    expect(listed.body.total).toBe(4);
    const json = { filter: { errorGroup, status: "Failed" } };
    expect((await manager.call("POST", "/api/v1/observers/restart", { json })).body).toMatchObject({
      matched: 2,
      accepted: 2,
    });
  });
});

describe("GET /types", () => {
  test("gives every type of living services with all that it says of itself, and who has it", async () => {
    expect((await manager.call("GET", "/api/v1/types")).body).toEqual({ items: [], total: 0, broken: [] });
    const ticker = { type: "ticker", description: "ticks", paramsSchema: { type: "object" } };
    const newer = { ...ticker, paramsSchema: { type: "object", required: ["everyMs"] } };
    const poll = {
      type: "poll",
      description: "",
      paramsSchema: {},
      start: "admitted",
      onUpdate: true,
      checkpointSchema: {},
    };
    await putService(books.dataSource, { name: "s-2", types: [ticker, poll] });
    await putService(books.dataSource, { name: "s-1", types: [poll, ticker], state: "Suspect", pool: "gpu" });
    await putService(books.dataSource, { name: "s-3", types: [newer] });
    await putService(books.dataSource, {
      name: "s-4",
      types: [{ ...poll, type: "gone" }],
      state: "Gone",
      ended_at: new Date(),
    });
    expect((await manager.call("GET", "/api/v1/types")).body).toEqual({
      broken: [],
      total: 3,
      items: [
        { ...poll, services: ["s-1", "s-2"], pools: ["default", "gpu"] },
        { ...ticker, services: ["s-1", "s-2"], pools: ["default", "gpu"] },
        { ...newer, services: ["s-3"], pools: ["default"] },
      ],
    });
  });
});
