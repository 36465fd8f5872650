import { randomUUID } from "node:crypto";
import type { AuditPage } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { PostgresRetentionStore } from "../../services/observer-manager/src/adapters/postgres/books/retention-store.ts";
import { recordErrors } from "../../services/observer-manager/src/adapters/postgres/errors/error-rows.ts";
import { startHttpManager, useHttpManager } from "../support/rest/http-manager.ts";
import type { Called } from "../support/rest/rest-client.ts";
import { bearer, callersOf, roleTokens } from "../support/rest/tokens.ts";
import { keptLog, putObserver, putRunning, putService } from "../support/servers/books.ts";

const tokens = roleTokens();
const OBSERVERS = "/api/v1/observers";

const { books, manager } = useHttpManager({
  emptied: "observers, services, commands, errors, audit",
  rows: ({ dataSource }) =>
    putService(dataSource, {
      name: "alpha",
      worker_count: 20_000,
      types: [{ type: "ticker", description: "", paramsSchema: {} }],
    }),
  access: () => ({ callers: callersOf(tokens.list, keptLog()) }),
});

const call = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}): Promise<Called> =>
  manager.call(method, path, { json, headers: { ...bearer(tokens.of.operator), ...headers } });

async function trail(query = ""): Promise<AuditPage> {
  const answer = await manager.call("GET", `/api/v1/audit${query}`, { headers: bearer(tokens.of.admin) });
  expect(answer.status, answer.text).toBe(200);
  return answer.body as AuditPage;
}

const put = (name: string, status: string) => putObserver(books.dataSource, { name, status });
const ticker = (name: string, more: object = {}) => ({ name, type: "ticker", ...more });

describe("the audit trail", () => {
  test("says of every change who did it, from where, to what and when, and of nothing else", async () => {
    const made = await call("POST", OBSERVERS, ticker("gold", { id: randomUUID() }), { "x-request-id": "my-request" });
    const failed = await put("bad", "Failed");
    const running = await putRunning(books.dataSource, { name: "runs" });
    await recordErrors(books.dataSource.manager, [
      {
        reason: "retries-used-up",
        detail: "Error: x",
        queue: "q",
        messageId: randomUUID(),
        reporter: "r",
        body: "{",
        bodyBytes: 1,
        observerId: failed,
      } as never,
    ]);
    const [{ id: errorId }] = (await call("GET", "/api/v1/errors")).body.items;
    await call("POST", `/api/v1/errors/${errorId}/retry`);
    await call("POST", `${OBSERVERS}/${running}/restart`);
    await call("DELETE", `${OBSERVERS}/gold?force=true`);
    const asAdmin = bearer(tokens.of.admin);
    await manager.call("DELETE", `/api/v1/errors/${errorId}`, { headers: asAdmin });
    // Neither reads, nor what was refused, repeated or only tried.
    await call("POST", OBSERVERS, ticker("runs"));
    await call("DELETE", `${OBSERVERS}/nobody`);
    await manager.call("POST", OBSERVERS, { json: ticker("x"), headers: bearer(tokens.of.viewer) });
    await call("POST", `${OBSERVERS}/stop`, { all: true, dryRun: true });
    await call("POST", `${OBSERVERS}/batch`, { observers: [ticker("y"), ticker("runs")], atomic: true });

    const { items, total, nextCursor } = await trail();
    const to = (id: string, name: string) => [{ kind: "observer", id, name }];
    expect(items.map(({ action, count, targets, details }) => ({ action, count, targets, details }))).toEqual([
      { action: "error.delete", count: 1, targets: [{ kind: "error", id: errorId, name: null }], details: {} },
      { action: "observer.stop", count: 1, targets: to(made.body.id, "gold"), details: { force: true } },
      { action: "observer.restart", count: 1, targets: to(running, "runs"), details: {} },
      { action: "error.retry", count: 1, targets: to(failed, "bad"), details: { errorId } },
      { action: "observer.create", count: 1, targets: to(made.body.id, "gold"), details: {} },
    ]);
    expect([total, nextCursor]).toEqual([5, null]);
    const operator = { name: "an-operator", role: "operator", authentication: "token", address: "127.0.0.1" };
    expect(items.map(({ actor }) => actor.name)).toEqual(["an-admin", ...Array.from({ length: 4 }, () => "an-operator")]);
    expect(items.at(-1)).toMatchObject({ actor: operator, requestId: "my-request" });
    expect(Math.abs(Date.parse(items.at(-1)?.at ?? "") - Date.now())).toBeLessThan(60_000);
  });

  test("says who drained a service, which is for admins", async () => {
    expect((await call("POST", "/api/v1/services/alpha/drain")).body).toMatchObject({ neededRole: "admin" });
    const drained = await manager.call("POST", "/api/v1/services/alpha/drain", { headers: bearer(tokens.of.admin) });
    expect(drained.status, drained.text).toBe(202);
    const targets = [{ kind: "service", id: drained.body.id, name: "alpha" }];
    expect((await trail()).items).toMatchObject([
      { action: "service.drain", count: 1, targets, actor: { name: "an-admin" } },
    ]);
  });

  test("has one entry for a call of ten thousand, with the first of their names", async () => {
    const observers = Array.from({ length: 10_000 }, (_, i) => ticker(`many-${i}`));
    expect((await call("POST", `${OBSERVERS}/batch`, { observers })).status).toBe(200);
    await call("POST", `${OBSERVERS}/stop`, { filter: { type: "ticker", status: "Created" }, force: true });
    const [stop, create, ...others] = (await trail()).items;
    expect(others).toEqual([]);
    expect(create).toMatchObject({ action: "observer.create", count: 10_000 });
    expect(create?.targets.map(({ name }) => name)).toEqual(Array.from({ length: 10 }, (_, i) => `many-${i}`));
    expect(stop).toMatchObject({ action: "observer.stop", count: 10_000 });
    expect(stop?.details).toEqual({ force: true, filter: { statuses: ["Created"], type: "ticker", labels: [] } });
    expect(stop?.targets).toHaveLength(10);
  });

  test("names the first ten also when they come in several transactions, and counts those alone that were accepted", async () => {
    const names = Array.from({ length: 1_200 }, (_, i) => `n-${i}`);
    // Of the first thousand only four can be restarted.
    for (const i of [3, 30, 300, 999]) await put(`n-${i}`, "Failed");
    for (let i = 1_000; i < 1_200; i += 1) await put(`n-${i}`, "Failed");
    await call("POST", `${OBSERVERS}/restart`, { names });
    const [entry] = (await trail()).items;
    expect(entry).toMatchObject({ action: "observer.restart", count: 204 });
    expect(entry?.targets.map(({ name }) => name)).toEqual([
      "n-3",
      "n-30",
      "n-300",
      "n-999",
      "n-1000",
      "n-1001",
      "n-1002",
      "n-1003",
      "n-1004",
      "n-1005",
    ]);
  });

  test("has an entry for each call when many arrive at once and share a transaction", async () => {
    const made = await Promise.all(
      Array.from({ length: 50 }, (_, i) => call("POST", OBSERVERS, ticker(`o-${i}`), { "x-request-id": `r-${i}` })),
    );
    expect(made.every(({ status }) => status === 201)).toBe(true);
    const { items } = await trail();
    const told = items.map(({ requestId, targets }) => `${requestId} ${targets[0]?.name}`);
    expect(told.toSorted()).toEqual(Array.from({ length: 50 }, (_, i) => `r-${i} o-${i}`).toSorted());
  });

  test("stands and falls with the change: one that is rolled back leaves no entry", async () => {
    await books.dataSource.query("ALTER TABLE audit ADD CONSTRAINT nobody CHECK (actor <> 'an-operator')");
    const refused = await call("POST", OBSERVERS, ticker("gold"));
    expect(refused.status).toBe(422);
    expect((await call("GET", `${OBSERVERS}/gold`)).status).toBe(404);
    await books.dataSource.query("ALTER TABLE audit DROP CONSTRAINT nobody");
    expect((await trail()).items).toEqual([]);
  });

  test("is filtered, and read page by page without a gap or a repetition", async () => {
    for (let i = 0; i < 7; i += 1) await call("POST", OBSERVERS, ticker(`p-${i}`), { "x-request-id": `r-${i}` });
    const asAdmin = bearer(tokens.of.admin);
    await manager.call("DELETE", `${OBSERVERS}/p-3?force=true`, { headers: asAdmin });
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await trail(`?limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.items.map(({ action, targets }) => `${action} ${targets[0]?.name}`));
      expect(page.total).toBe(8);
      cursor = page.nextCursor ?? "";
    } while (cursor !== "");
    expect(seen).toEqual(["observer.stop p-3", ...[6, 5, 4, 3, 2, 1, 0].map((i) => `observer.create p-${i}`)]);

    const namesOf = async (query: string) =>
      (await trail(query)).items.map(({ action, targets }) => `${action} ${targets[0]?.name}`);
    expect(await namesOf("?actor=an-admin")).toEqual(["observer.stop p-3"]);
    expect(await namesOf("?action=observer.stop")).toEqual(["observer.stop p-3"]);
    expect(await namesOf("?deed=observer.stop")).toEqual(["observer.stop p-3"]); // its name of 0.1.0
    expect(await namesOf("?observer=p-3")).toEqual(["observer.stop p-3", "observer.create p-3"]);
    const [created] = (await trail("?observer=p-5")).items;
    expect(await namesOf(`?observer=${created?.targets[0]?.id}`)).toEqual(["observer.create p-5"]);
    expect(await namesOf("?target=p-3")).toEqual(["observer.stop p-3", "observer.create p-3"]);
    expect(await namesOf(`?target=${created?.targets[0]?.id}&targetKind=observer`)).toEqual(["observer.create p-5"]);
    expect(await namesOf("?target=p-3&action=observer.stop")).toEqual(["observer.stop p-3"]);
    expect(await namesOf("?target=p-3&targetKind=schedule")).toEqual([]);
    expect(await namesOf("?target=p")).toEqual([]);
    expect(await namesOf("?requestId=r-2")).toEqual(["observer.create p-2"]);
    const { at } = (await trail("?requestId=r-4")).items[0] ?? expect.fail("no entry");
    const until = (await trail(`?until=${encodeURIComponent(at)}`)).items.map(({ requestId }) => requestId);
    expect(until).not.toContain("r-6");
    expect((await trail(`?since=2999-01-01T00:00:00%2B02:00`)).total).toBe(0);
  });

  test("is for admins, and refuses filters that are none", async () => {
    expect((await call("GET", "/api/v1/audit")).body).toMatchObject({ code: "forbidden", neededRole: "admin" });
    for (const query of [
      "action=observer.dance",
      "since=yesterday",
      "cursor=abc",
      "observer=no%20name",
      "actor=%00",
      "target=%00",
      "target=",
      "targetKind=observer",
      "targetKind=cat&target=tom",
      "who=me",
    ]) {
      const refused = await manager.call("GET", `/api/v1/audit?${query}`, { headers: bearer(tokens.of.admin) });
      expect(refused.body.errors, query).toMatchObject([{ parameter: query.split("=")[0] }]);
    }
  });

  test("goes when the retention is over", async () => {
    for (const name of ["old", "new"]) await call("POST", OBSERVERS, ticker(name));
    await books.dataSource.query(`UPDATE audit SET at = now() - interval '2 days' WHERE targets @> '[{"name": "old"}]'`);
    const retention = new PostgresRetentionStore(books.dataSource);
    expect(await retention.removeOld("audit", 86_400_000, 10)).toBe(1);
    expect((await trail()).items.map(({ targets }) => targets[0]?.name)).toEqual(["new"]);
  });
});

test("who it was is said also where nobody is asked: anonymous, and from where", async () => {
  const open = await startHttpManager(books.databaseUrl);
  await open.call("POST", OBSERVERS, { json: ticker("gold") });
  const { items } = (await open.call("GET", "/api/v1/audit")).body as AuditPage;
  expect(items).toMatchObject([{ actor: { name: "anonymous", authentication: "anonymous", address: "127.0.0.1" } }]);
});
