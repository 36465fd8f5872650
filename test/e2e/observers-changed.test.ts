import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ObserverView, specTag } from "@unacked/contracts";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import {
  type ChangeOptions,
  change,
  gapsMs,
  marked,
  marksOf,
  quantile,
  runsOf,
  untilAsWanted,
  untilItMayChange,
} from "../support/system/changes.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/** Longer than any test needs: what ends a run here is its stop, and never that it took too long. */
const STOP_TIMEOUT_MS = "120000";
const LONG_MS = 90_000;

describe("observers that are changed", () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await untilItMayChange(system);
  }, 240_000);
  afterAll(() => system.close());
  // A test that failed must not leave its services to the next.
  afterEach(async () => {
    const left = [...system.services.values()].filter((service) => service.exit() === null);
    await Promise.all(left.map((service) => service.kill("SIGKILL")));
  });

  const patch = (ref: string, body: object, options: ChangeOptions = {}) => change(system, ref, body, options);
  const mark = (text: string, more: object = {}) => ({ params: marked(system, text, more) });
  const serve = (pool: string, name: string, workers = 10) =>
    system.startService(`${pool}-${name}`, { workers, env: { POOL: pool, STOP_TIMEOUT_MS } });
  const until = (refs: string[], status: string) => system.untilStatus(refs, status, LONG_MS);
  const act = (what: string, ref: string, query = "") =>
    system.call<ObserverView & { code?: string }>("POST", `/api/v1/observers/${ref}/${what}${query}`);
  const standing = ({ status, pending, specVersion, observedSpecVersion }: ObserverView) => [
    status,
    pending,
    specVersion,
    observedSpecVersion,
  ];

  /** An observer that goes on acting after its stop until it is let go. */
  const clinging = () => {
    const letGo = join(temporaryFolder("let-go"), "now");
    return { params: { stopWhenFile: letGo }, letGo: () => writeFileSync(letGo, "") };
  };

  it("leave a pool that nobody serves, whose queue goes with their messages, and run where they are wanted", async () => {
    for (const name of ["typed-0", "typed-1"])
      await system.create(name, marked(system, name), { pool: "mistyped", whenFull: "queue" });
    await eventually(async () => expect((await system.management.queue("unacked.work.mistyped")).ready).toBe(2));
    await serve("meant", "1");
    for (const name of ["typed-0", "typed-1"]) expect((await patch(name, { pool: "meant" })).status).toBe(202);
    await until(["typed-0", "typed-1"], "Processing");
    await eventually(async () =>
      expect((await system.management.queues()).map(({ name }) => name)).not.toContain("unacked.work.mistyped"),
    );
    const metrics = await scrape(system.url);
    const repaired = (kind: string) => metrics.value("unacked_manager_repairs_total", { kind });
    expect([repaired("sent-elsewhere"), repaired("sent-again")]).toEqual([2, 0]);
    for (const name of ["typed-0", "typed-1"]) await system.remove(name);
    await system.check({ pool: "meant" });
  });

  it.runIf(isTurnOf(2))(
    "are not what a file wants while they are being stopped: `unacked apply` says so, and fails, until they can be created",
    async () => {
      await serve("going", "1");
      const cling = clinging();
      const definition = { name: "going", type: "stamp", params: cling.params, pool: "going" };
      expect((await system.call("POST", "/api/v1/observers", definition)).status).toBe(201);
      await until(["going"], "Processing");
      const cwd = temporaryFolder("cli");
      const env = { UNACKED_URL: system.url, UNACKED_TOKEN: "", XDG_CONFIG_HOME: join(cwd, "config") };
      const apply = (...more: string[]) =>
        runCli(["apply", "-f", "-", ...more], { cwd, env, input: JSON.stringify(definition) });
      expect(await apply()).toMatchObject({ code: 0, out: "observer going unchanged (Processing)\n" });
      expect((await system.call("DELETE", "/api/v1/observers/going")).status).toBe(202);
      expect(await apply("--dry-run")).toMatchObject({
        code: 6,
        out: expect.stringContaining("observer going is being stopped"),
      });
      expect(await apply()).toMatchObject({ code: 1, out: "", err: expect.stringContaining("going") });
      cling.letGo();
      await eventually(async () => expect(await apply()).toMatchObject({ code: 0, out: "observer going created\n" }));
    },
  );

  it("keep their id, name and history, and their handlers are given what is wanted now", async () => {
    const pool = "plain";
    await serve(pool, "one", 1);
    const held = clinging();
    const [one] = (await system.createMany("kept", 1, { mark: "a", ...held.params }, { pool })) as [ObserverView];
    expect(standing(one)).toEqual(["Processing", null, 1, 1]);
    const asked = await patch(one.id, mark("b"));
    expect([asked.status, asked.body.outcome, ...standing(asked.body)]).toEqual([
      202,
      "changed",
      "Processing",
      "update",
      2,
      1,
    ]);
    expect(asked.body.changed.map(({ field }) => field)).toEqual(["params"]);
    // While that is under way it is shown so wherever it is shown, and the newest is taken.
    expect((await system.listObservers(`&pool=${pool}`)).map(standing)).toEqual([["Processing", "update", 2, 1]]);
    expect((await act("restart", one.id)).status).toBe(202);
    expect((await act("resume", one.id)).body.code).toBe("not-paused");
    expect((await patch(one.id, mark("c"))).body.specVersion).toBe(3);
    held.letGo();
    await untilAsWanted(system, [one.id]);
    await system.check({ pool, timeoutMs: LONG_MS });
    const now = await system.get(one.id);
    expect([now.name, now.createdAt, now.runNumber, now.revision, ...standing(now)]).toEqual([
      one.name,
      one.createdAt,
      2,
      2,
      "Processing",
      null,
      3,
      3,
    ]);
    expect(marksOf(system, one.id)).toEqual(["a", "c"]);
    expect((await runsOf(system, one.id)).map(({ specVersion, endReason }) => [specVersion, endReason])).toEqual([
      [3, null],
      [1, "stopped"],
    ]);
    expect(system.reportOverlap("changed", [one])).toBe(0);
  });

  it.runIf(isTurnOf(0))("by what is so already, or by labels alone, run on", async () => {
    const pool = "at-once";
    await serve(pool, "one");
    const [one] = (await system.createMany("labelled", 1, { mark: "a" }, { pool })) as [ObserverView];
    const same = await patch(one.id, { ...mark("a"), pool, labels: {} });
    expect([same.status, same.body.outcome, same.body.changed, ...standing(same.body)]).toEqual([
      200,
      "unchanged",
      [],
      "Processing",
      null,
      1,
      1,
    ]);
    const labelled = await patch(one.id, { labels: { team: "web" } });
    expect([labelled.status, labelled.body.labels, ...standing(labelled.body)]).toEqual([
      200,
      { team: "web" },
      "Processing",
      null,
      2,
      2,
    ]);
    await system.check({ pool, timeoutMs: LONG_MS });
    expect([(await system.get(one.id)).runNumber, marksOf(system, one.id)]).toEqual([1, ["a"]]);
  });

  it.runIf(isTurnOf(2))(
    "only if they are as they were read, where that is asked for; else the answer says what differs",
    async () => {
      const pool = "read";
      await serve(pool, "one");
      const [one] = (await system.createMany("read", 1, { mark: "a" }, { pool })) as [ObserverView];
      const read = await system.call<ObserverView>("GET", `/api/v1/observers/${one.name}`);
      const tag = read.headers.get("etag") ?? "";
      expect(tag).toBe(specTag(one));
      const first = await patch(one.id, mark("b"), { ifMatch: tag });
      expect([first.status, first.headers.get("etag")]).toEqual([202, specTag({ id: one.id, specVersion: 2 })]);
      const second = await patch(one.id, { ...mark("c"), labels: {} }, { ifMatch: tag });
      expect([second.status, second.body.code, second.body.specVersion]).toEqual([412, "spec-changed", 2]);
      expect(second.body.differs).toEqual([{ field: "params", now: marked(system, "b"), given: marked(system, "c") }]);
      // What was asked for is so: nobody has to be told of a conflict.
      expect((await patch(one.id, mark("b"), { ifMatch: tag })).body.outcome).toBe("unchanged");
      expect((await patch(one.id, mark("d"), { ifMatch: "*" })).status).toBe(202);
      expect((await patch(one.id, mark("e"), { ifMatch: `W/${specTag({ id: one.id, specVersion: 3 })}` })).status).toBe(412);
      await untilAsWanted(system, [one.id]);
      await system.check({ pool, timeoutMs: LONG_MS });
      expect(marksOf(system, one.id).at(-1)).toBe("d");
    },
  );

  it.runIf(isTurnOf(0))(
    "with params that their type does not take, or a pool that is not there, are not stopped",
    async () => {
      const pool = "wrong";
      await serve(pool, "one");
      const [one] = (await system.createMany("wrong", 1, {}, { pool })) as [ObserverView];
      const wrong = await patch(one.id, { params: { everyMs: "often" } });
      expect([wrong.status, wrong.body.errors?.map(({ pointer }) => pointer)]).toEqual([422, ["/params/everyMs"]]);
      expect((await patch(one.id, { pool: "nowhere" })).body.code).toBe("pool-not-served");
      expect((await patch(one.id, { colour: "red" })).status).toBe(422);
      expect((await patch(one.id, mark("b"), { query: "?dryRun=true" })).body.outcome).toBe("changed");
      await system.check({ pool, timeoutMs: LONG_MS });
      expect(standing(await system.get(one.id))).toEqual(["Processing", null, 1, 1]);
    },
  );

  it.runIf(isTurnOf(2))(
    "to another pool go there, if there is room; they are where their message is until then",
    async () => {
      await serve("from", "one");
      await serve("to", "one", 1);
      const held = clinging();
      const [one] = (await system.createMany("moving", 1, held.params, { pool: "from" })) as [ObserverView];
      const [other] = (await system.createMany("following", 1, {}, { pool: "from" })) as [ObserverView];
      const asked = await patch(one.id, { pool: "to" });
      expect([asked.status, asked.body.pool, asked.body.service?.name]).toEqual([202, "to", "from-one"]);
      // Its place there is taken from now on.
      expect((await patch(other.id, { pool: "to" })).body.code).toBe("no-free-worker");
      held.letGo();
      await untilAsWanted(system, [one.id]);
      expect((await system.get(one.id)).service?.name).toBe("to-one");
      expect((await patch(other.id, { pool: "to" }, { query: "?whenFull=queue" })).status).toBe(202);
      await eventually(async () => expect(standing(await system.get(other.id))).toEqual(["Created", null, 2, null]), {
        timeoutMs: LONG_MS,
      });
      expect((await patch(other.id, { pool: "from" }, { query: "?whenFull=queue" })).status).toBe(202);
      await system.remove(one.id);
      await untilAsWanted(system, [other.id]);
      expect((await system.get(other.id)).service?.name).toBe("from-one");
      await system.check({ pool: "from", timeoutMs: LONG_MS });
      await system.check({ pool: "to", timeoutMs: LONG_MS });
      expect(system.reportOverlap("moved to another pool", [one, other])).toBe(0);
    },
  );

  it.runIf(isTurnOf(1))(
    "to another pool wait for whoever resumes others there, and neither of the two waits in vain",
    async () => {
      await serve("near", "one");
      await serve("far", "one");
      const [one] = (await system.createMany("crossing", 1, {}, { pool: "near" })) as [ObserverView];
      // As a manager that resumes: the row first, then the pool whose workers it counts.
      const other = new pg.Client({ connectionString: system.env.DATABASE_URL });
      await other.connect();
      let isOver = false;
      const resuming = async () => {
        while (!isOver) {
          await other.query("BEGIN");
          await other.query("SELECT pg_sleep(0.01) FROM observers WHERE id = $1 FOR UPDATE", [one.id]);
          await other.query("SELECT pg_advisory_xact_lock(7026, hashtext('far'))");
          await other.query("COMMIT");
        }
      };
      const resumed = resuming();
      const asked: number[] = [];
      for (let i = 0; i < 60; i += 1) asked.push((await patch(one.id, { pool: "far" }, { query: "?dryRun=true" })).status);
      isOver = true;
      await resumed;
      await other.end();
      expect(new Set(asked)).toEqual(new Set([200]));
    },
  );

  it.runIf(isTurnOf(1))("that do not run are so when they run again", async () => {
    const pool = "rest";
    await serve(pool, "one");
    const [one] = (await system.createMany("resting", 1, { mark: "a" }, { pool })) as [ObserverView];
    await eventually(async () => expect((await act("pause", one.id)).status).toBe(202), { timeoutMs: 40_000 });
    await until([one.id], "Paused");
    const asked = await patch(one.id, mark("b"));
    expect([asked.status, ...standing(asked.body)]).toEqual([200, "Paused", null, 2, null]);
    await act("resume", one.id);
    await untilAsWanted(system, [one.id]);
    await eventually(() => expect(marksOf(system, one.id)).toEqual(["a", "b"]), { timeoutMs: LONG_MS });
    // Failed: a change does not restart it, a restart runs it so.
    const { body: failing } = await system.create("failing", { throwAfterMs: 10 }, { pool, retry: { maxAttempts: 1 } });
    await until([failing.id], "Failed");
    expect(standing((await patch(failing.id, mark("mended"))).body)).toEqual(["Failed", null, 2, null]);
    await act("restart", failing.id);
    await untilAsWanted(system, [failing.id]);
    await system.remove(one.id);
    expect((await patch(one.id, mark("c"))).body.code).toBe("already-deleted");
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(2))("while they are being paused: resumed, they do not run on as they were", async () => {
    const pool = "regret";
    await serve(pool, "one");
    const held = clinging();
    const [one] = (await system.createMany("regretted", 1, { mark: "a", ...held.params }, { pool })) as [ObserverView];
    await eventually(async () => expect((await act("pause", one.id)).status).toBe(202), { timeoutMs: 40_000 });
    expect(standing((await patch(one.id, mark("b"))).body)).toEqual(["Processing", "pause", 2, 1]);
    expect(standing((await act("resume", one.id)).body)).toEqual(["Processing", "update", 2, 1]);
    held.letGo();
    await untilAsWanted(system, [one.id]);
    await system.check({ pool, timeoutMs: LONG_MS });
    expect(marksOf(system, one.id)).toEqual(["a", "b"]);
    // And a pause during an update is a pause.
    const again = clinging();
    await patch(one.id, mark("c", again.params));
    await untilAsWanted(system, [one.id]);
    await patch(one.id, mark("d"));
    expect(standing((await act("pause", one.id)).body)).toEqual(["Processing", "pause", 4, 3]);
    again.letGo();
    await until([one.id], "Paused");
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(2))("before they ever started, start as they are wanted", async () => {
    const pool = "queued";
    await serve(pool, "one", 1);
    const [holder] = (await system.createMany("holder", 1, {}, { pool })) as [ObserverView];
    const { body: waiting } = await system.create("queued", { mark: "a" }, { pool, whenFull: "queue" });
    const asked = await patch(waiting.id, mark("b"));
    expect([asked.status, ...standing(asked.body)]).toEqual([202, "Created", "update", 2, null]);
    await system.remove(holder.id);
    await untilAsWanted(system, [waiting.id]);
    await eventually(() => expect(marksOf(system, waiting.id)).toEqual(["b"]), { timeoutMs: LONG_MS });
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(2))("while they wait for their next attempt are tried at once, as they are wanted", async () => {
    const pool = "retrying";
    await serve(pool, "one");
    const retry = { maxAttempts: 9, delaysMs: [3_600_000] };
    const { body: one } = await system.create("trying", { mark: "a", throwAfterMs: 50 }, { pool, retry });
    await until([one.id], "Retrying");
    await patch(one.id, mark("b"));
    await untilAsWanted(system, [one.id]);
    await eventually(() => expect(marksOf(system, one.id)).toEqual(["a", "b"]), { timeoutMs: LONG_MS });
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(1))("by a whole definition are created, changed where they are otherwise, or left alone", async () => {
    const pool = "whole";
    await serve(pool, "one");
    const put = (text: string, more: object = {}) =>
      system.call<ObserverView & { outcome: string; code?: string }>("PUT", "/api/v1/observers/defined", {
        type: "stamp",
        params: marked(system, text),
        pool,
        ...more,
      });
    const outcomes = [await put("a"), await put("a"), await put("b")];
    expect(outcomes.map(({ status, body }) => [status, body.outcome])).toEqual([
      [201, "created"],
      [200, "unchanged"],
      [202, "changed"],
    ]);
    const id = outcomes[0]?.body.id ?? "";
    expect(new Set(outcomes.map(({ body }) => body.id)).size).toBe(1);
    expect((await put("b", { type: "ticker" })).body.code).toBe("other-type");
    expect((await put("b", { name: "another" })).status).toBe(422);
    await untilAsWanted(system, [id]);
    await system.remove(id);
    // A name that was left is another observer's from then on.
    const anew = await put("c");
    expect([anew.status, anew.body.outcome, anew.body.id === id]).toEqual([201, "created", false]);
    await untilAsWanted(system, [anew.body.id]);
    await system.check({ pool, timeoutMs: LONG_MS });
    // Of twenty at the same time, one creates it.
    const crowd = await Promise.all(
      Array.from({ length: 20 }, () =>
        system.call<ObserverView & { outcome: string }>("PUT", "/api/v1/observers/crowded", {
          type: "stamp",
          params: marked(system, "x"),
          pool,
        }),
      ),
    );
    expect(crowd.map(({ body }) => body.outcome).toSorted()).toEqual([
      "created",
      ...Array.from({ length: 19 }, () => "unchanged"),
    ]);
    await untilAsWanted(system, [crowd[0]?.body.id ?? ""]);
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(0))("are back at once", async () => {
    const pool = "gap";
    await Promise.all([serve(pool, "one", 30), serve(pool, "two", 30)]);
    const observers = await system.createMany("gap", 50, { mark: "a", everyMs: 5 }, { pool });
    const ids = observers.map(({ id }) => id);
    for (const id of ids) {
      await patch(id, mark("b", { everyMs: 5 }));
      await eventually(() => expect(marksOf(system, id)).toEqual(["a", "b"]), { timeoutMs: LONG_MS });
    }
    const alone = gapsMs(system, ids);
    await Promise.all(ids.map((id) => patch(id, mark("c", { everyMs: 5 }))));
    await untilAsWanted(system, ids);
    const together = gapsMs(system, ids);
    const told = (gaps: number[]) => `p50 ${quantile(gaps, 0.5).toFixed(0)} ms, p99 ${quantile(gaps, 0.99).toFixed(0)} ms`;
    console.log(`a change: nothing runs for ${told(alone)} one by one; for ${told(together)} where 50 are changed at once`);
    await system.check({ pool, timeoutMs: LONG_MS });
    expect(system.reportOverlap("changed one by one and at once", observers)).toBe(0);
  });

  it.runIf(isTurnOf(1))("are finished by another manager when the one that answered is killed at that moment", async () => {
    const pool = "managers";
    const first = system.managers.at(-1);
    const second = await system.startManager({ speakTo: false });
    const { url: other } = await second.waitForEvent("listening");
    await serve(pool, "one");
    const held = clinging();
    const observers = await system.createMany("handed", 10, { mark: "a", ...held.params }, { pool });
    const ids = observers.map(({ id }) => id);
    await untilItMayChange(system);
    const asked = await Promise.all(ids.map((id) => patch(id, mark("b"))));
    await first?.kill("SIGKILL");
    expect(asked.map(({ status }) => status)).toEqual(ids.map(() => 202));
    system.url = String(other);
    held.letGo();
    await untilAsWanted(system, ids);
    await system.check({ pool, timeoutMs: LONG_MS });
    expect(system.reportOverlap("changed as the manager died", observers)).toBe(0);
  });
});
