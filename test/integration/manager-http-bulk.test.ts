import { randomUUID } from "node:crypto";
import type { ObserverStatus } from "@unacked/contracts";
import { beforeEach, describe, expect, test } from "vitest";
import { tcpProxy } from "../support/broker/tcp-proxy.ts";
import { startHttpManager, useHttpManager } from "../support/rest/http-manager.ts";
import type { Called } from "../support/rest/rest-client.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { putObserver, putRunning, putService } from "../support/servers/books.ts";

const OBSERVERS = "/api/v1/observers";

const { books, manager } = useHttpManager({ emptied: "observers, services, commands" });

const post = (verb: "stop" | "restart" | "pause" | "resume", json: object) =>
  manager.call("POST", `${OBSERVERS}/${verb}`, { json });
const put = (name: string, status: ObserverStatus, more: object = {}) =>
  status === "Processing"
    ? putRunning(books.dataSource, { name, ...more })
    : putObserver(books.dataSource, { name, status, ...more });
const codesOf = ({ body, text }: Called): string[] => {
  expect(body.results, text.slice(0, 300)).toBeDefined();
  return body.results.map((one: { problem?: { code: string }; status: number }) => one.problem?.code ?? String(one.status));
};
const statuses = async (): Promise<Record<string, string>> => {
  const rows = await books.dataSource.query<{ name: string; status: string }[]>("SELECT name, status FROM observers");
  return Object.fromEntries(rows.map(({ name, status }) => [name, status]));
};
const commands = async (): Promise<string[]> => {
  const rows = await books.dataSource.query<{ text: string }[]>(
    "SELECT c.kind || ' ' || o.name AS text FROM commands c JOIN observers o ON o.id = c.observer_id ORDER BY 1",
  );
  return rows.map(({ text }) => text);
};

describe("stop and restart of some", () => {
  test("answer each in the order given, ids first, as the single call would have", async () => {
    const running = await put("running", "Processing");
    const gone = await put("gone", "Deleted");
    await put("fresh", "Created");
    await put("over", "Completed");
    const nobody = randomUUID();
    const answer = await post("stop", {
      ids: [running, nobody, gone],
      names: ["fresh", "over", "running", "nobody", "gone"],
    });
    expect(answer.status).toBe(200);
    expect(codesOf(answer)).toEqual([
      "202",
      "observer-not-found",
      "already-deleted",
      "not-activated",
      "202",
      "already-deleting",
      "observer-not-found",
      "already-deleted",
    ]);
    const { results } = answer.body;
    expect(results.map((one: { ref: string }) => one.ref)).toEqual([
      running,
      nobody,
      gone,
      "fresh",
      "over",
      "running",
      "nobody",
      "gone",
    ]);
    expect(results[0].observer).toEqual((await manager.call("GET", `${OBSERVERS}/running`)).body);
    expect(results[0].observer.status).toBe("OnDeleting");
    expect(results[1].problem).toMatchObject({ status: 404, requestId: answer.headers.get("x-request-id") });
    expect(await statuses()).toEqual({ running: "OnDeleting", gone: "Deleted", fresh: "Created", over: "Deleted" });
    expect(await commands()).toEqual(["stop running"]);
    expect(codesOf(await post("stop", { names: ["fresh", "running"], force: true }))).toEqual(["202", "202"]);
    expect(await statuses()).toMatchObject({ fresh: "Deleted", running: "Deleted" });
  });

  test("restart starts over what runs, and starts what is over", async () => {
    for (const [name, status] of Object.entries({ a: "Processing", b: "Failed", c: "Completed", d: "Created" } as const))
      await put(name, status);
    const answer = await post("restart", { names: ["a", "b", "c", "d"] });
    expect(codesOf(answer)).toEqual(["202", "202", "202", "not-restartable"]);
    expect(answer.body.results[1].observer).toMatchObject({ status: "Created", revision: 2 });
    expect(await commands()).toEqual(["restart-run a", "start b", "start c"]);
  });

  test("finds the living one of a name, though others of that name were deleted", async () => {
    for (let life = 0; life < 3; life += 1) await put("phoenix", "Deleted");
    const living = await put("phoenix", "Failed", { created_at: new Date(0) });
    const { body } = await post("stop", { names: ["phoenix"] });
    expect(body.results).toMatchObject([{ ref: "phoenix", status: 202, observer: { id: living } }]);
  });

  test("dryRun answers the same and changes nothing", async () => {
    await put("a", "Processing");
    await put("b", "Created");
    const before = await books.dataSource.query("SELECT * FROM observers ORDER BY id");
    const dry = await post("stop", { names: ["a", "b"], dryRun: true });
    expect(codesOf(dry)).toEqual(["202", "not-activated"]);
    expect(dry.body.results[0].observer.status).toBe("Processing");
    expect((await post("stop", { all: true, dryRun: true })).body).toEqual({
      matched: 2,
      accepted: 1,
      refused: { "not-activated": 1 },
    });
    expect(await books.dataSource.query("SELECT * FROM observers ORDER BY id")).toEqual(before);
    expect(await commands()).toEqual([]);
  });
});

describe("stop and restart by filter", () => {
  test("count what matched, what was accepted, and the refused by their code", async () => {
    const service = await putService(books.dataSource, { name: "s-1" });
    await put("gold-1", "Processing", { labels: { team: "a" }, current_service_id: service });
    await put("gold-2", "Created", { labels: { team: "a" } });
    await put("gold-3", "OnDeleting", { labels: { team: "a" } });
    await put("gold-4", "Deleted", { labels: { team: "a" } });
    await put("tin", "Processing", { labels: { team: "b" }, type: "other", pool: "gpu" });
    const count = async (filter: object) => (await post("stop", { filter, dryRun: true })).body.matched as number;
    expect(await count({ service: "s-1" })).toBe(1);
    expect(await count({ service })).toBe(1);
    expect(await count({ type: "other", pool: "gpu" })).toBe(1);
    expect(await count({ q: "GOLD" })).toBe(3);
    expect(await count({ q: "gold", status: "Deleted" })).toBe(1);
    expect(await count({ status: ["Created", "OnDeleting"] })).toBe(2);
    expect(await count({ labels: { team: "c" } })).toBe(0);
    const { body } = await post("stop", { filter: { labels: { team: "a" } } });
    expect(body).toEqual({ matched: 3, accepted: 1, refused: { "not-activated": 1, "already-deleting": 1 } });
    expect(await statuses()).toMatchObject({ "gold-1": "OnDeleting", "gold-2": "Created", tin: "Processing" });
    expect((await post("stop", { filter: { q: "gold" }, force: true })).body).toEqual({
      matched: 3,
      accepted: 3,
      refused: {},
    });
  });

  test("need all: true for all, so that nobody stops everything by accident", async () => {
    for (const name of ["a", "b"]) await put(name, "Failed");
    for (const [json, pointer] of [
      [{}, ""],
      [{ filter: {} }, "/all"],
      [{ filter: { labels: {} } }, "/all"],
      [{ filter: {}, all: false }, "/all"],
      [{ filter: { type: "ticker" }, all: true }, "/all"],
      [{ names: ["a"], all: true }, "/all"],
      [{ names: ["a"], filter: { type: "ticker" } }, "/filter"],
      [{ names: [] }, "/names"],
      [{ ids: ["a"] }, "/ids/0"],
      [{ filter: { status: [] } }, "/filter/status"],
      [{ filter: { typ: "ticker" } }, "/filter/typ"],
      [{ filter: { labels: { "a b": "c" } } }, "/filter/labels/a b"],
      [
        { ids: Array.from({ length: 6_000 }, () => randomUUID()), names: Array.from({ length: 6_000 }, () => "a") },
        "/names",
      ],
    ] as const) {
      const refused = await post("restart", json);
      expect([refused.status, refused.body.code], refused.text).toEqual([422, "invalid-body"]);
      expect(refused.body.errors[0].pointer, refused.text).toBe(pointer);
    }
    expect((await post("restart", { all: true, force: true })).body.errors).toMatchObject([{ pointer: "/force" }]);
    expect(await statuses()).toEqual({ a: "Failed", b: "Failed" });
    expect((await post("restart", { filter: {}, all: true })).body).toEqual({ matched: 2, accepted: 2, refused: {} });
    expect((await post("stop", { all: true, force: true })).body).toEqual({ matched: 2, accepted: 2, refused: {} });
    manager.setReady(false);
    expect((await post("stop", { all: true })).body.code).toBe("not-ready");
    expect((await post("stop", { names: ["a"] })).body.code).toBe("not-ready");
  });

  test("leave alone what no longer matches when its turn comes", async () => {
    await put("a", "Failed");
    const before = await put("b", "Failed");
    const other = books.dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query("UPDATE observers SET status = 'Created' WHERE id = $1", [before]);
    const answer = post("stop", { filter: { status: "Failed" } });
    await waitForLock();
    await other.commitTransaction();
    await other.release();
    expect((await answer).body).toEqual({ matched: 1, accepted: 1, refused: {} });
    expect(await statuses()).toEqual({ a: "Deleted", b: "Created" });
  });
});

describe("stop and restart of those of some that match", () => {
  test("answer these alone, in the order given, and leave the others as they are", async () => {
    const [a, b, c] = [await put("a", "Failed"), await put("b", "Processing"), await put("c", "Failed")];
    await put("d", "Failed");
    const gone = await put("gone", "Deleted");
    const answer = await post("stop", { ids: [c, randomUUID(), b, gone, a], filter: { status: "Failed" } });
    expect(answer.body.results).toMatchObject([
      { ref: c, status: 202 },
      { ref: a, status: 202 },
    ]);
    expect(await statuses()).toEqual({ a: "Deleted", b: "Processing", c: "Deleted", d: "Failed", gone: "Deleted" });
    expect((await post("restart", { ids: [a, b], filter: {} })).body.results).toMatchObject([{ ref: b }]);
    expect((await post("restart", { ids: [b], filter: { q: "nobody" } })).body).toEqual({ results: [] });
  });

  test("look at the filter when their turn comes", async () => {
    const [a, b] = [await put("a", "Paused"), await put("b", "Paused")];
    const other = books.dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query("UPDATE observers SET status = 'Created' WHERE id = $1", [b]);
    const answer = post("stop", { ids: [a, b], filter: { status: "Paused" } });
    await waitForLock();
    await other.commitTransaction();
    await other.release();
    expect((await answer).body.results).toMatchObject([{ ref: a, status: 202 }]);
    expect(await statuses()).toEqual({ a: "Deleted", b: "Created" });
  });
});

async function waitForLock(): Promise<void> {
  const sql = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  while ((await books.dataSource.query<unknown[]>(sql)).length === 0);
}

describe("ten thousand", () => {
  const REFS = Array.from({ length: 10_000 }, (_, i) => `n-${i}`);

  beforeEach(async () => {
    const service = await putService(books.dataSource, { worker_count: 10_000 });
    await books.dataSource.query(
      `WITH o AS (
         INSERT INTO observers (id, name, type, params, labels, pool, retry, status, current_run_id, current_service_id)
         SELECT gen_random_uuid(), 'n-' || n, 'ticker', '{"everyMs": 10}', '{}', 'default',
                '{"maxAttempts": "unlimited", "delaysMs": [1000], "resetAfterMs": 600000}', 'Processing', gen_random_uuid(), $1
         FROM generate_series(0, 9999) n RETURNING *)
       INSERT INTO runs (id, observer_id, service_id, generation, message_id, revision, epoch, state, started_at)
       SELECT current_run_id, id, $1, 1, gen_random_uuid(), 1, 1, 'Current', now() FROM o`,
      [service],
    );
    await books.dataSource.query("ANALYZE observers, runs");
  });

  const timed = async <T>(what: string, call: Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const answer = await call;
    const tookMs = Math.round(performance.now() - startedAt);
    console.log(`10,000 ${what}: ${tookMs} ms`);
    expect(tookMs).toBeLessThan(60_000); // on a machine that does other things too
    return answer;
  };

  test.runIf(isTurnOf(0))("are stopped within a second or two, by name and by filter", async () => {
    const dry = await timed("stops by filter, dry", post("stop", { filter: { type: "ticker" }, dryRun: true }));
    expect(dry.body).toEqual({ matched: 10_000, accepted: 10_000, refused: {} });
    const { body } = await timed("restarts by filter", post("restart", { filter: { type: "ticker" } }));
    expect(body).toEqual({ matched: 10_000, accepted: 10_000, refused: {} });
    const answer = await timed("stops by name", post("stop", { names: REFS }));
    expect(answer.body.results.map((one: { ref: string }) => one.ref)).toEqual(REFS);
    expect(new Set(codesOf(answer))).toEqual(new Set(["202"]));
    expect((await commands()).filter((text) => text.startsWith("stop "))).toHaveLength(10_000);
    const again = await timed("stops that are under way already", post("stop", { filter: { pool: "default" } }));
    expect(again.body).toEqual({ matched: 10_000, accepted: 0, refused: { "already-deleting": 10_000 } });
  });

  test.runIf(isTurnOf(2))(
    "with the database gone in the middle: what was accepted is told, and the call can be sent again",
    async () => {
      const wire = await tcpProxy(books.databaseUrl);
      const far = await startHttpManager(wire.through(books.databaseUrl));
      // Far enough away that the ten transactions are not over before anybody has looked.
      wire.delay(25);
      const answer = far.call("POST", `${OBSERVERS}/stop`, { json: { names: REFS } });
      const stopping = "SELECT count(*)::int AS count FROM observers WHERE status = 'OnDeleting'";
      const countStopping = async () => (await books.dataSource.query<[{ count: number }]>(stopping))[0].count;
      while ((await countStopping()) < 3_000);
      wire.reset();
      wire.delay(0);
      const codes = codesOf(await answer);
      const accepted = codes.filter((code) => code === "202").length;
      expect(accepted).toBeGreaterThanOrEqual(1_000);
      expect(accepted).toBeLessThan(10_000);
      expect(codes.filter((code) => code === "batch-interrupted")).toHaveLength(10_000 - accepted);
      const again = codesOf(await far.call("POST", `${OBSERVERS}/stop`, { json: { names: REFS } }));
      // A commit whose answer was cut off with the wire may have happened, or not.
      expect(again.filter((code) => code === "already-deleting").length - accepted).toBeOneOf([0, 1_000]);
      expect(await countStopping()).toBe(10_000);
    },
  );
});

describe("pause and resumption", () => {
  const pendings = async () =>
    Object.fromEntries(
      (await books.dataSource.query<{ name: string; pending: string | null }[]>("SELECT name, pending FROM observers")).map(
        ({ name, pending }) => [name, pending],
      ),
    );

  test("of some answer each as it stands: on its way to Paused, or Paused", async () => {
    await put("running", "Processing");
    for (const [name, status] of Object.entries({
      fresh: "Created",
      paused: "Paused",
      over: "Failed",
      going: "OnDeleting",
      gone: "Deleted",
    } as const))
      await put(name, status);
    const names = ["running", "fresh", "paused", "over", "going", "nobody", "running"];
    const answer = await post("pause", { names });
    expect(codesOf(answer)).toEqual(["202", "202", "200", "not-pausable", "already-deleting", "observer-not-found", "202"]);
    expect(answer.body.results[0].observer).toMatchObject({ status: "Processing", pending: "pause" });
    expect(await statuses()).toMatchObject({ running: "Processing", fresh: "Created", paused: "Paused" });
    expect(await pendings()).toEqual({
      running: "pause",
      fresh: "pause",
      paused: null,
      over: null,
      going: null,
      gone: null,
    });
    expect(await commands()).toEqual(["stop fresh", "stop running"]);
    expect(codesOf(await post("restart", { names: ["running", "paused"] }))).toEqual(["paused", "paused"]);

    expect(codesOf(await post("resume", { names, whenFull: "queue" }))).toEqual([
      "202",
      "202",
      "202",
      "not-paused",
      "already-deleting",
      "observer-not-found",
      "not-paused",
    ]);
    expect(await statuses()).toMatchObject({ running: "Processing", fresh: "Created", paused: "Created" });
    expect(await pendings()).toMatchObject({ running: null, fresh: null, paused: null });
    expect(await commands()).toEqual(["start paused"]);
  });

  test("a resumption finds a worker for as many as there are, unless they are content to wait", async () => {
    await putService(books.dataSource, { worker_count: 3, types: [{ type: "ticker", description: "", paramsSchema: {} }] });
    await put("running", "Processing");
    for (const name of ["a", "b", "c"]) await put(name, "Paused");
    expect(codesOf(await post("resume", { names: ["a", "b", "c"], dryRun: true }))).toEqual([
      "202",
      "202",
      "no-free-worker",
    ]);
    expect((await post("resume", { filter: { status: "Paused" } })).body).toEqual({
      matched: 3,
      accepted: 2,
      refused: { "no-free-worker": 1 },
    });
    const [left] = (await manager.call("GET", `${OBSERVERS}?status=Paused`)).body.items;
    const single = (query: string) => manager.call("POST", `${OBSERVERS}/${left.id}/resume${query}`);
    expect((await single("")).body.code).toBe("no-free-worker");
    expect((await single("?whenFull=perhaps")).body.code).toBe("invalid-query");
    expect((await single("?whenFull=queue")).body).toMatchObject({ status: "Created", revision: 2 });
  });

  test("what is Paused takes no worker, and goes at once when it is stopped for good", async () => {
    await putService(books.dataSource, { worker_count: 1, types: [{ type: "ticker", description: "", paramsSchema: {} }] });
    await put("paused", "Paused");
    const create = { name: "new", type: "ticker" };
    expect((await manager.call("POST", OBSERVERS, { json: create })).status).toBe(201);
    expect((await manager.call("DELETE", `${OBSERVERS}/paused`)).body).toMatchObject({ status: "Deleted" });
    expect(await commands()).toEqual(["start new"]);
  });

  test("a pause is refused while a manager may be about that does not know it; a resumption is not", async () => {
    await put("running", "Processing");
    await put("paused", "Paused");
    manager.setMayPause(false);
    for (const answer of [
      await post("pause", { names: ["running"] }),
      await manager.call("POST", `${OBSERVERS}/running/pause`),
    ])
      expect([answer.status, answer.body.code]).toEqual([503, "not-ready"]);
    expect(codesOf(await post("resume", { names: ["paused"], whenFull: "queue" }))).toEqual(["202"]);
    manager.setMayPause(true);
  });

  test("both stand in the trail of who did what", async () => {
    await put("running", "Processing");
    await put("paused", "Paused");
    await post("pause", { names: ["running"] });
    await post("resume", { names: ["paused"], whenFull: "queue" });
    const { body } = await manager.call("GET", "/api/v1/audit?limit=2");
    expect(
      body.items.map((one: { action: string; targets: { name: string }[] }) => [one.action, one.targets[0]?.name]),
    ).toEqual([
      ["observer.resume", "paused"],
      ["observer.pause", "running"],
    ]);
  });
});
