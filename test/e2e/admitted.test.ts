import { MANAGER_FEATURES, type ObserverView, type ProblemDetails, type RunView } from "@unacked/contracts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { tapOutput } from "../support/acts/output-tap.ts";
import { eventually } from "../support/eventually.ts";
import { shortOrFull } from "../support/runs/counts.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshDatabase, freshVhost, queryRows, runStatement } from "../support/servers/servers.ts";
import { type ObserverOrProblem, System } from "../support/system/system.ts";

const LONG_MS = 90_000;
const KILLS = shortOrFull(6, 30);
const OBSERVERS_DIR = compiled("admitted");

describe("observers that ask before they start", () => {
  let system: System;
  let amqpUrl: string;
  let databaseUrl: string;

  beforeAll(async () => {
    const vhost = await freshVhost();
    ({ amqpUrl } = vhost);
    ({ databaseUrl } = await freshDatabase());
    // A service that is frozen for some seconds keeps its lease.
    system = new System({ amqpUrl, databaseUrl, management: vhost.management, heartbeatS: 20 });
    await system.startManager();
  }, 240_000);
  afterAll(() => system.close());
  // A test that failed must not leave its services to the next.
  afterEach(async () => {
    const left = [...system.services.values()].filter((service) => service.exit() === null);
    await Promise.all(left.map((service) => service.kill("SIGKILL")));
    if (system.managers.every((manager) => manager.exit() !== null)) await system.startManager();
  });

  const ask = (name: string, pool: string, params: object = {}, more: object = {}) =>
    system.create(name, params, { type: "admitted", pool, ...more });
  /** The readers of the state queue are looked at a moment after a manager is ready. */
  const create = (...args: Parameters<typeof ask>) =>
    eventually(
      async () => {
        const answer = await ask(...args);
        expect(answer.body.code).not.toBe("admission-not-known");
        return answer;
      },
      { timeoutMs: 40_000, what: "that an admitted type is taken" },
    );
  const createOne = async (name: string, pool: string, params: object = {}): Promise<ObserverView> => {
    const { status, body } = await create(name, pool, params);
    expect(status, JSON.stringify(body)).toBe(201);
    await until([body.id], "Processing");
    return system.get(body.id);
  };
  const serve = (pool: string, name: string) =>
    system.startService(`${pool}-${name}`, { env: { POOL: pool, OBSERVERS_DIR } });
  const until = (refs: string[], status: string) => system.untilStatus(refs, status, LONG_MS);
  const actsOf = ({ id }: Pick<ObserverView, "id">) => system.acts().filter(({ observerId }) => observerId === id);
  const startsOf = (of: Pick<ObserverView, "id">) => actsOf(of).filter(({ kind }) => kind === "start");
  const runsOf = async (id: string) =>
    (await system.call<{ items: RunView[] }>("GET", `/api/v1/observers/${id}/runs`)).body.items;
  const asksOn = (service: string, times: number) =>
    eventually(
      () => {
        const lines = system.service(service).lines.filter((line) => line.includes('"event":"run-requested"'));
        expect(lines.length).toBeGreaterThanOrEqual(times);
      },
      { timeoutMs: LONG_MS, what: `${times} requests on ${service}` },
    );
  const untilConfirmed = () =>
    eventually(async () => expect((await system.management.queue("unacked.state")).ready).toBeGreaterThan(0), {
      timeoutMs: LONG_MS,
      what: "that the request is in the state queue",
    });
  const killManager = async () => {
    await Promise.all(system.managers.filter((one) => one.exit() === null).map((one) => one.kill("SIGKILL")));
  };

  it.runIf(isTurnOf(2))(
    "are taken by a manager whose books are new, and by one that starts later, without watching others for 10 s first",
    async () => {
      const pool = "early";
      const known = async () =>
        (await queryRows<{ feature: string }>(databaseUrl, "SELECT feature FROM known_features")).map(
          ({ feature }) => feature,
        );
      expect((await known()).toSorted()).toEqual([...MANAGER_FEATURES].toSorted());
      await serve(pool, "a");
      await createOne("first", pool);
      await killManager();
      const startMs = performance.now();
      await system.startManager();
      await createOne("second", pool);
      console.info(`taken and running ${Math.round(performance.now() - startMs)} ms after a manager's start`);
      await system.check({ pool, timeoutMs: LONG_MS });
    },
  );

  it("start admitted, with a fencing token that rises over a failover, in REST and in what they emit", async () => {
    const pool = "plain";
    await serve(pool, "a");
    const tap = await tapOutput<{ word: string }>(amqpUrl, "admitted.#");
    const one = await createOne("fenced", pool, { emit: true });
    await eventually(() => expect(startsOf(one)).toHaveLength(1));
    const [first] = startsOf(one);
    expect(first?.fencingToken).toBe(one.fencingToken);
    expect(one).toMatchObject({ waitsFor: null, fencingToken: expect.any(Number) });
    // Milliseconds of PostgreSQL's clock, so that it rises over an older dump, too.
    expect(Math.abs((one.fencingToken ?? 0) - Date.now())).toBeLessThan(3_600_000);
    await serve(pool, "b");
    await system.service("plain-a").kill("SIGKILL");
    await eventually(() => expect(startsOf(one)).toHaveLength(2), { timeoutMs: LONG_MS });
    await until([one.id], "Processing");
    await eventually(() => expect(tap.messages.filter(({ observerId }) => observerId === one.id)).toHaveLength(2));
    const tokens = startsOf(one).map(({ fencingToken }) => fencingToken ?? 0);
    expect(tokens[1]).toBeGreaterThanOrEqual((tokens[0] ?? 0) + 1_000);
    expect((await runsOf(one.id)).map(({ fencingToken }) => fencingToken)).toEqual(tokens.toReversed());
    const headers = tap.messages.map((message) => [
      message.headers["unacked-run-id"],
      message.headers["unacked-fencing-token"],
    ]);
    expect(headers).toEqual(startsOf(one).map(({ runId, fencingToken }) => [runId, fencingToken]));
    await tap.close();
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(1))("wait while no manager is there, and say so; those that start at once do not", async () => {
    const pool = "alone";
    await serve(pool, "a");
    const one = await createOne("asking", pool);
    const [free] = (await system.createMany("free", 1, {}, { pool })) as [ObserverView];
    await serve(pool, "b");
    await killManager();
    await system.service("alone-a").kill("SIGKILL");
    await asksOn("alone-b", 1);
    await eventually(() => expect(startsOf(free)).toHaveLength(2), {
      timeoutMs: LONG_MS,
      what: "the one that does not ask",
    });
    await untilConfirmed();
    // Frozen, so that it cannot hear the answer before it has been looked at.
    const service = system.service("alone-b");
    await service.kill("SIGSTOP");
    await system.startManager();
    await eventually(async () => expect((await system.get(one.id)).waitsFor).toBe("admission"), { timeoutMs: LONG_MS });
    const [asks] = await runsOf(one.id);
    expect(asks).toMatchObject({ state: "Requested", service: { name: "alone-b" }, endReason: null });
    expect((await system.get(one.id)).status).toBe("Redistributing");
    expect(startsOf(one)).toHaveLength(1);
    await service.kill("SIGCONT");
    await eventually(() => expect(startsOf(one)).toHaveLength(2), { timeoutMs: LONG_MS });
    await until([one.id], "Processing");
    expect((await system.get(one.id)).waitsFor).toBe(null);
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(2))("start with what stands in the books by then, and not with what their message holds", async () => {
    const pool = "newest";
    const { body } = await create("newest", pool, { word: "old" }, { whenFull: "queue" });
    await eventually(async () => expect((await system.management.queue(`unacked.work.${pool}`)).ready).toBe(1));
    await runStatement(databaseUrl, `UPDATE observers SET params = params || '{"word":"new"}' WHERE id = '${body.id}'`);
    await serve(pool, "a");
    await until([body.id], "Processing");
    await eventually(() => expect(startsOf(body).map(({ word }) => word)).toEqual(["new"]));
  });

  it.runIf(isTurnOf(2))("deleted before they have begun, never begin", async () => {
    const pool = "deleted";
    const doomed = (await create("by-force", pool, {}, { whenFull: "queue" })).body;
    await eventually(async () => expect((await system.management.queue(`unacked.work.${pool}`)).ready).toBe(1));
    const forced = await system.call<ObserverOrProblem>("DELETE", `/api/v1/observers/${doomed.id}?force=true`);
    expect(forced.body.status).toBe("Deleted");
    await serve(pool, "a");
    const lost = await createOne("lost", pool);
    await system.service("deleted-a").kill("SIGKILL");
    await until([lost.id], "Redistributing");
    const answer = await system.call<ObserverOrProblem>("DELETE", `/api/v1/observers/${lost.id}`);
    expect([answer.status, answer.body.status]).toEqual([202, "OnDeleting"]);
    // It has not heard the stop, gets the message, and asks.
    await serve(pool, "b");
    await until([lost.id, doomed.id], "Deleted");
    await eventually(async () =>
      expect(await system.management.queue(`unacked.work.${pool}`)).toMatchObject({ ready: 0, unacked: 0 }),
    );
    expect([startsOf(lost).length, startsOf(doomed).length]).toEqual([1, 0]);
  });

  it.runIf(isTurnOf(0))("can be deleted while they ask: a service has them, and says when they are gone", async () => {
    const pool = "asking";
    const { body } = await create("told", pool, {}, { whenFull: "queue" });
    await eventually(async () => expect((await system.management.queue(`unacked.work.${pool}`)).ready).toBe(1));
    await killManager();
    await system.startService(`${pool}-a`, { env: { POOL: pool, OBSERVERS_DIR }, untilKnown: false });
    await asksOn(`${pool}-a`, 1);
    await untilConfirmed();
    const service = system.service(`${pool}-a`);
    await service.kill("SIGSTOP");
    await system.startManager();
    await eventually(async () => expect((await system.get(body.id)).waitsFor).toBe("admission"), { timeoutMs: LONG_MS });
    const answer = await system.call<ObserverOrProblem>("DELETE", `/api/v1/observers/${body.id}`);
    expect([answer.status, answer.body.status]).toEqual([202, "OnDeleting"]);
    await service.kill("SIGCONT");
    await until([body.id], "Deleted");
    system.isOver(body.id);
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(1))("are admitted by their service itself when their slot has died, manager or not", async () => {
    const pool = "slot";
    // Two in one slot: neither is alone in it, and so to blame for its death.
    await system.startService(`${pool}-a`, { env: { POOL: pool, OBSERVERS_DIR, SLOTS: "1" } });
    const all = [await createOne("survivor-0", pool), await createOne("survivor-1", pool)];
    const before = all.map(({ fencingToken }) => fencingToken ?? 0);
    await killManager();
    await eventually(() => expect(all.map((one) => startsOf(one).length)).toEqual([1, 1]));
    process.kill(startsOf(all[0] as ObserverView)[0]?.slot ?? expect.fail("nobody knows its slot"), "SIGKILL");
    const after = before.map((fencingToken) => [fencingToken, fencingToken + 1]);
    await eventually(() => expect(all.map((one) => startsOf(one).map(({ fencingToken }) => fencingToken))).toEqual(after), {
      timeoutMs: LONG_MS,
    });
    await system.startManager();
    const tokens = async () => (await system.observers(all.map(({ id }) => id))).map(({ fencingToken }) => fencingToken);
    await eventually(async () => expect(await tokens()).toEqual(before.map((fencingToken) => fencingToken + 1)), {
      timeoutMs: LONG_MS,
    });
    await system.check({ pool, timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(1))("are refused where a service of the pool does not know admission, which is named", async () => {
    const pool = "mixed";
    await serve(pool, "new");
    await serve(pool, "old");
    await runStatement(databaseUrl, "UPDATE services SET features = features - 'admission' WHERE name = 'mixed-old'");
    const { status, body } = await ask("refused", pool);
    expect([status, body.code]).toEqual([503, "admission-not-known"]);
    expect((body as unknown as ProblemDetails).detail).toContain('1 of the pool "mixed" do not know it yet: mixed-old');
    expect((await system.create("taken", {}, { pool })).status).toBe(201);
  });

  it.runIf(isTurnOf(0))(
    "over kills of services and managers: each start has a higher fencing token, and none runs beside another",
    async () => {
      const pool = "kills";
      await serve(pool, "a");
      await serve(pool, "b");
      const all = await Promise.all(Array.from({ length: 8 }, (_, i) => createOne(`walker-${i}`, pool)));
      const ids = all.map(({ id }) => id);
      for (let kill = 0; kill < KILLS; kill += 1) {
        const name = `${pool}-${kill % 2 === 0 ? "a" : "b"}`;
        await system.service(name).kill("SIGKILL");
        if (kill % 3 === 2) {
          await killManager();
          await system.startManager();
        }
        await system.startService(name, { env: { POOL: pool, OBSERVERS_DIR }, untilKnown: kill % 3 !== 1 });
        if (kill % 3 !== 1) await until(ids, "Processing");
      }
      await until(ids, "Processing");
      await system.check({ pool, timeoutMs: LONG_MS });
      const starts = all.map((one) => startsOf(one).map(({ fencingToken = 0 }) => fencingToken));
      for (const tokens of starts) expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b));
      const asking =
        "SELECT count(*) FROM commands WHERE kind = 'admit' UNION ALL SELECT count(*) FROM observers WHERE requested_run_id IS NOT NULL AND status <> 'Deleted'";
      await eventually(async () => expect(await queryRows(databaseUrl, asking)).toEqual([{ count: "0" }, { count: "0" }]));
      console.info(`${KILLS} kills, ${starts.flat().length} starts of ${all.length} observers, tokens rise in each`);
    },
  );
});
