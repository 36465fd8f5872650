import { newServiceId } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { followEvents } from "../support/rest/event-client.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { insert, putObserver, putRunning, putService } from "../support/servers/books.ts";

const { books, manager } = useHttpManager({ emptied: "observers, services, commands, errors" });

const drain = (service: string, options?: object) => manager.call("POST", `/api/v1/services/${service}/drain`, options);
const commands = () => books.dataSource.query("SELECT kind, service_id, generation, sent_count FROM commands");

describe("a drain", () => {
  test("is accepted by name and by id, again and again, and leaves one command", async () => {
    const id = await putService(books.dataSource, { name: "service-1", generation: 3 });
    await putService(books.dataSource, { name: "service-1", state: "Gone", ended_at: new Date() });
    const { status, body } = await drain("service-1");
    expect([status, body]).toMatchObject([202, { id, state: "Alive", draining: true, drained: false, free: 0 }]);
    await books.dataSource.query("UPDATE commands SET due_at = now() + interval '1 hour', sent_count = 1");
    expect((await drain(id.toUpperCase())).status).toBe(202);
    expect(await commands()).toEqual([{ kind: "drain", service_id: id, generation: 3, sent_count: 1 }]);
    const [{ due }] = await books.dataSource.query("SELECT due_at <= now() AS due FROM commands");
    expect(due).toBe(true);
  });

  test("of a service that has answered writes no command any more", async () => {
    await putService(books.dataSource, { name: "service-1", drain: "begun" });
    expect(await drain("service-1")).toMatchObject({ status: 202, body: { draining: true, drained: true } });
    expect(await commands()).toEqual([]);
  });

  test("is told to those who follow the changes", async () => {
    const id = await putService(books.dataSource, { name: "service-1" });
    const client = await followEvents(`${manager.url}/api/v1/events`);
    await eventually(() => client.events.some(({ event }) => event === "ready"));
    await drain("service-1");
    await eventually(() =>
      expect(client.events).toContainEqual(
        expect.objectContaining({ event: "service", data: expect.objectContaining({ id, draining: true }) }),
      ),
    );
  });

  test("takes the service's workers from those that are free", async () => {
    await putService(books.dataSource, {
      name: "service-1",
      worker_count: 5,
      types: [{ type: "ticker", paramsSchema: {} }],
    });
    const create = (name: string) => manager.call("POST", "/api/v1/observers", { json: { name, type: "ticker" } });
    expect((await create("before")).status).toBe(201);
    await drain("service-1");
    expect((await create("after")).body).toMatchObject({ status: 503, code: "no-free-worker" });
  });

  test("does not count as a sign of life", async () => {
    const long = new Date(1_000);
    await putService(books.dataSource, { name: "service-1", state: "Suspect", last_seen_at: long });
    expect((await drain("service-1")).body).toMatchObject({ state: "Suspect", lastSeenAt: long.toISOString() });
  });

  test("of none, of one that has ended, or of two of one name is refused, with what would be right", async () => {
    const ended = await putService(books.dataSource, { name: "ended", state: "Stopped", ended_at: new Date() });
    const twins = [
      await putService(books.dataSource, { name: "twin" }),
      await putService(books.dataSource, { name: "twin" }),
    ];
    const codes = async (...refs: string[]) => Promise.all(refs.map(async (ref) => (await drain(ref)).body.code));
    expect(await codes("nobody", newServiceId(), "not%20a%20name")).toEqual(Array(3).fill("service-not-found"));
    expect(await codes("ended", ended)).toEqual(["service-ended", "service-ended"]);
    expect((await drain("twin")).body).toMatchObject({
      status: 409,
      code: "service-ambiguous",
      remedy: expect.stringContaining("id"),
    });
    expect(await commands()).toEqual([]);
    expect((await drain(twins[0] ?? "")).status).toBe(202);
    manager.setReady(false);
    expect(await drain("twin")).toMatchObject({ status: 503, body: { code: "not-ready" } });
    expect((await drain("twin", { headers: { origin: "http://elsewhere" } })).body).toMatchObject({ code: "cross-origin" });
    expect((await manager.call("GET", "/api/v1/services/twin/drain")).status).toBe(405);
  });
});

describe("the logs, where no broker can be asked", () => {
  const logs = (ref: string, query = "") => manager.call("GET", `/api/v1/observers/${ref}/logs${query}`);

  test("are refused of one that runs", async () => {
    const service = await putService(books.dataSource, { name: "service-1" });
    await putRunning(books.dataSource, { name: "runs", current_service_id: service });
    const { status, headers, body } = await logs("runs");
    expect([status, body]).toMatchObject([503, { code: "logs-unavailable", detail: "The broker cannot be asked just now" }]);
    expect(headers.get("retry-after")).toBe("2");
  });

  test("are none of one that has not run, or whose service is gone, and it is said why", async () => {
    const gone = await putService(books.dataSource, { name: "gone", state: "Gone", ended_at: new Date() });
    await putObserver(books.dataSource, { name: "waits" });
    expect((await logs("waits")).body).toMatchObject({ status: "Created", run: null, entries: [], reason: "no-run" });
    const over = await putObserver(books.dataSource, { name: "failed", status: "Failed" });
    const run = { observer_id: over, service_id: gone, generation: 1, message_id: over, revision: 1, epoch: 1 };
    const end = { state: "Ended", started_at: new Date(), ended_at: new Date(), end_reason: "failed" };
    await insert(books.dataSource, "runs", { id: newServiceId(), ...run, ...end });
    expect((await logs("failed")).body).toMatchObject({
      status: "Failed",
      run: { isCurrent: false, service: { id: gone, name: "gone" } },
      reason: "service-gone",
    });
  });

  test("take a limit from 0 to 1000 and a flag, and refuse anything else at its place", async () => {
    await putObserver(books.dataSource, { name: "waits" });
    for (const query of ["?limit=0", "?limit=1000", "?follow=false", ""])
      expect((await logs("waits", query)).status, query).toBe(200);
    for (const [query, parameter] of [
      ["?limit=-1", "limit"] as const,
      ["?limit=1001", "limit"] as const,
      ["?limit=", "limit"] as const,
      ["?follow=maybe", "follow"] as const,
      ["?since=1h", "since"] as const,
    ])
      expect((await logs("waits", query)).body, query).toMatchObject({ code: "invalid-query", errors: [{ parameter }] });
    expect((await logs("nobody", "?follow=true")).body).toMatchObject({ status: 404, code: "observer-not-found" });
    const head = await fetch(`${manager.url}/api/v1/observers/waits/logs?follow=true`, { method: "HEAD" });
    expect(head.headers.get("content-type")).toContain("text/event-stream");
  });
});

describe("a cordon", () => {
  const order = (service: string, what: string) => manager.call("POST", `/api/v1/services/${service}/${what}`);
  const balances = { features: JSON.stringify(["balance"]) };
  const kinds = async () => (await commands()).map(({ kind }: { kind: string }) => kind);

  test("of a service of an older version is refused, and nothing is written", async () => {
    await putService(books.dataSource, { name: "old" });
    for (const what of ["cordon", "uncordon"])
      expect((await order("old", what)).body).toMatchObject({ status: 409, code: "service-too-old" });
    expect(await kinds()).toEqual([]);
  });

  test("is asked for again and again by one command; the last word counts", async () => {
    await putService(books.dataSource, { name: "service-1", ...balances });
    expect((await order("service-1", "cordon")).body).toMatchObject({ cordoned: true, draining: false, free: 0 });
    await order("service-1", "cordon");
    expect(await kinds()).toEqual(["cordon"]);
    expect((await order("service-1", "uncordon")).body).toMatchObject({ cordoned: false, free: 0 });
    expect(await kinds()).toEqual(["uncordon"]);
    expect((await order("service-1", "drain")).body).toMatchObject({ cordoned: false, draining: true });
    expect(await kinds()).toEqual(["drain"]);
    // A drain gives back more: a cordon takes nothing of that.
    expect((await order("service-1", "cordon")).body).toMatchObject({ cordoned: false, draining: true });
    expect((await order("service-1", "uncordon")).body).toMatchObject({ cordoned: false, draining: false });
    expect(await kinds()).toEqual(["uncordon"]);
  });

  test("takes from those that are free the service's free workers, and not those of others for what it runs on", async () => {
    const types = [{ type: "ticker", paramsSchema: {} }];
    const id = await putService(books.dataSource, { name: "service-1", worker_count: 3, types, ...balances });
    await putService(books.dataSource, { name: "service-2", worker_count: 2, types, ...balances });
    for (const name of ["one", "two"]) await putRunning(books.dataSource, { name, type: "ticker", current_service_id: id });
    const pool = async () => (await manager.call("GET", "/api/v1/stats")).body.workers.byPool[0];
    expect(await pool()).toMatchObject({ workers: 5, occupied: 2, free: 3 });
    await order("service-1", "cordon");
    expect(await pool()).toMatchObject({ workers: 4, occupied: 2, free: 2, desired: 4, survivesLargestService: true });
    const create = (name: string) => manager.call("POST", "/api/v1/observers", { json: { name, type: "ticker" } });
    expect((await create("three")).status).toBe(201);
    expect((await create("four")).status).toBe(201);
    expect((await create("five")).body).toMatchObject({ status: 503, code: "no-free-worker" });
    await order("service-1", "drain"); // what it gives back needs workers
    expect(await pool()).toMatchObject({ workers: 2, occupied: 4, free: 0 });
  });

  test("that was never there is not taken back: no command", async () => {
    await putService(books.dataSource, { name: "service-1", ...balances });
    expect((await order("service-1", "uncordon")).status).toBe(202);
    expect(await kinds()).toEqual([]);
  });
});

describe("a reload", () => {
  const reload = (service: string) => manager.call("POST", `/api/v1/services/${service}/reload`);
  const reloads = { features: JSON.stringify(["reload"]) };
  const orders = () =>
    books.dataSource.query<{ kind: string; reloadId: string; sent_count: number }[]>(
      'SELECT kind, message_id AS "reloadId", sent_count FROM commands',
    );

  test("of a service of an older version is refused with what to do, and nothing is written", async () => {
    await putService(books.dataSource, { name: "old", ...{ features: JSON.stringify(["balance"]) } });
    expect((await reload("old")).body).toMatchObject({
      status: 409,
      code: "service-too-old",
      detail: expect.stringMatching(/Its next process loads the folder.*SIGHUP/),
      remedy: expect.stringContaining("start it again with a newer version"),
    });
    expect(await orders()).toEqual([]);
    expect((await manager.call("GET", "/api/v1/services")).body.items).toMatchObject([{ name: "old", reload: null }]);
  });

  test("is asked for by one command with the id that is answered; asked again it is another, due at once", async () => {
    await putService(books.dataSource, { name: "service-1", ...reloads });
    const { status, body } = await reload("service-1");
    expect([status, body.draining, body.reload]).toEqual([
      202,
      false,
      { id: expect.any(String), askedAt: expect.any(String), answer: null },
    ]);
    await books.dataSource.query("UPDATE commands SET due_at = now() + interval '1 hour', sent_count = 3");
    const again = (await reload("service-1")).body.reload;
    expect(again.id).not.toBe(body.reload.id);
    expect(again.askedAt > body.reload.askedAt).toBe(true);
    expect(await orders()).toEqual([{ kind: "reload", reloadId: again.id, sent_count: 0 }]);
    const [{ due }] = await books.dataSource.query("SELECT due_at <= now() AS due FROM commands");
    expect(due).toBe(true);
  });

  test("leaves a drain as it is, and is shown with its answer until the next is asked for", async () => {
    const id = await putService(books.dataSource, { name: "service-1", drain: "asked", ...reloads });
    await manager.call("POST", "/api/v1/services/service-1/drain");
    await reload("service-1");
    expect((await commands()).map(({ kind }: { kind: string }) => kind).toSorted()).toEqual(["drain", "reload"]);
    const answer = { at: 1_000, outcome: "loaded", changed: ["ticker"] };
    await books.dataSource.query("UPDATE services SET reload_answer = $2 WHERE id = $1", [id, JSON.stringify(answer)]);
    const [shown] = (await manager.call("GET", "/api/v1/services")).body.items;
    expect(shown.reload.answer).toEqual({
      at: new Date(1_000).toISOString(),
      outcome: "loaded",
      changed: ["ticker"],
      added: [],
      gone: [],
      brokenFiles: [],
    });
    expect((await reload("service-1")).body.reload.answer).toBeNull();
  });
});
