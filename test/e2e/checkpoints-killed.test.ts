import type { BatchResults } from "@unacked/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import type { Postgres } from "../../scripts/servers/postgres.mjs";
import { type TcpProxy, tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { isAlive, slotsOf } from "../support/processes/process-tree.ts";
import { proves } from "../support/runs/counts.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { SaveLog } from "../support/runs/saves.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { type PrivateBroker, privateBroker, privatePostgres, queryRows, runStatement } from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";

const PROVES = proves("checkpoints");
const COUNTERS = PROVES ? 1_000 : 50;
const KILLS = PROVES ? 30 : 6;
/** A step, and a save, of each. */
const EVERY_MS = PROVES ? 1_000 : 100;
const LONG_MS = PROVES ? 300_000 : 90_000;

/** What happens beside the kills of services, before the kill of this number. */
const BESIDE: Record<number, ("freeze" | "manager" | "broker" | "database")[]> = PROVES
  ? {
      3: ["freeze"],
      5: ["manager"],
      8: ["broker"],
      10: ["manager"],
      12: ["freeze"],
      13: ["database"],
      15: ["manager"],
      18: ["broker"],
      20: ["manager"],
      22: ["freeze"],
      23: ["database"],
      25: ["manager"],
    }
  : { 1: ["broker"], 2: ["freeze"], 3: ["database"], 4: ["manager"] };

describe(`${COUNTERS} observers that count and save each step, while all that carries them is killed`, () => {
  const pool = "kills";
  let broker: PrivateBroker;
  let database: Postgres;
  /** Of the counters' own writes. */
  let wire: TcpProxy;
  let system: System;
  let log: SaveLog;

  beforeAll(async () => {
    [broker, database] = await Promise.all([privateBroker(), privatePostgres()]);
    const { databaseUrl } = database;
    wire = await tcpProxy(databaseUrl);
    const env = { CHECKPOINT_EVERY_MS: "20" };
    system = new System({ amqpUrl: broker.amqpUrl, databaseUrl, management: broker.management, env });
    log = new SaveLog(system.actsFile);
    await runStatement(databaseUrl, "CREATE TABLE fences (observer_id uuid PRIMARY KEY, fencing_token bigint NOT NULL)");
    await runStatement(
      databaseUrl,
      "CREATE TABLE written (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, observer_id uuid, fencing_token bigint, n bigint)",
    );
    await runStatement(databaseUrl, "CREATE TABLE tried (observer_id uuid, fencing_token bigint, n bigint)");
    await system.startManager();
    await serve("a");
    await serve("b");
    return () => system.close();
  }, 240_000);

  const serve = (name: string) =>
    system.startService(`${pool}-${name}`, {
      workers: COUNTERS,
      env: { POOL: pool, OBSERVERS_DIR: compiled("admitted") },
    });

  async function createAll(): Promise<string[]> {
    const params = { file: system.actsFile, databaseUrl: wire.through(database.databaseUrl), everyMs: EVERY_MS, emit: true };
    const observers = Array.from({ length: COUNTERS }, (_, i) => ({ name: `counter-${i}`, type: "counter", pool, params }));
    const { body } = await system.call<BatchResults>("POST", "/api/v1/observers/batch", { observers });
    return body.results.map((result) => {
      if (!("observer" in result)) throw new Error(`not created: ${JSON.stringify(result)}`);
      return result.observer.id;
    });
  }

  /**
   * Wakes when others have all that it had. A slot that wakes is ended before it does anything, so what its runs were just writing is held up on
   * its way to the table, and arrives when a run with a newer fencing token has begun.
   */
  async function freeze(ids: string[]): Promise<void> {
    const name = await fullest();
    const service = system.service(name);
    await untilWritten(ids); // else its connections may not be open yet, and it has nothing on its way
    wire.only(`counters of ${service.pid}`).blackhole("to-server");
    await eventually(() => expect(system.actingByPid(3 * EVERY_MS).get(service.pid)?.size ?? 0).toBe(0), {
      timeoutMs: LONG_MS,
      what: "that each waits for its write",
    });
    const had = (await system.listObservers(`&pool=${pool}`)).filter((one) => one.service?.name === name);
    const slots = slotsOf(service.pid);
    for (const slot of slots) process.kill(slot, "SIGSTOP");
    await service.kill("SIGSTOP");
    await eventually(
      async () => {
        const now = new Map((await system.listObservers(`&pool=${pool}`)).map((one) => [one.id, one]));
        const still = had.filter(({ id, runNumber }) => {
          const one = now.get(id);
          return one?.status !== "Processing" || one.runNumber === runNumber;
        });
        expect(still.map((one) => one.name)).toEqual([]);
      },
      { timeoutMs: LONG_MS, what: "that others have what the frozen one had" },
    );
    await untilWritten(had.map(({ id }) => id));
    await wire.heal();
    await eventually(async () => expect(await refused()).toBeGreaterThan(0), {
      timeoutMs: LONG_MS,
      what: "that it is refused",
    });
    for (const slot of slots) process.kill(slot, "SIGCONT");
    await service.kill("SIGCONT");
    await eventually(() => expect(slots.filter(isAlive)).toEqual([]), {
      timeoutMs: LONG_MS,
      what: "that its old slots are gone",
    });
  }

  /** Until each acts where the books have it: right after a death they still have it where it was. */
  async function allRun(ids: string[]): Promise<void> {
    await system.untilStatus(ids, "Processing", LONG_MS);
    await eventually(
      async () => {
        const alive = (await system.listServices()).filter(({ pid }) => isAlive(pid));
        const pids = new Map(alive.map(({ id, pid }) => [id, pid]));
        const acting = system.actingByPid(3 * EVERY_MS);
        const elsewhere = (await system.listObservers(`&pool=${pool}`)).filter(
          ({ id, service }) => acting.get(pids.get(service?.id ?? "") ?? 0)?.has(id) !== true,
        );
        expect(elsewhere.map((one) => one.name)).toEqual([]);
      },
      { timeoutMs: LONG_MS, what: "that each acts where the books have it" },
    );
  }

  /** Until each has written in its newest run. */
  async function untilWritten(ids: string[]): Promise<void> {
    await eventually(
      async () => {
        const [row] = await queryRows<{ count: number }>(
          database.databaseUrl,
          "SELECT count(*)::int FROM fences f JOIN observers o ON o.id = f.observer_id WHERE f.fencing_token >= o.fencing_token AND o.id = ANY($1)",
          [ids],
        );
        expect(row?.count).toBe(ids.length);
      },
      { timeoutMs: LONG_MS, what: "that each newest run has written" },
    );
  }

  /** The service that has most of them: who was last to be back after a death may have none. */
  async function fullest(): Promise<string> {
    const names = (await system.listObservers(`&pool=${pool}`)).map((one) => one.service?.name ?? "");
    const has = (name: string) => names.filter((one) => one === name).length;
    return has(`${pool}-a`) > has(`${pool}-b`) ? `${pool}-a` : `${pool}-b`;
  }

  /** Writes that the table did not take. */
  async function refused(): Promise<number> {
    const [row] = await queryRows<{ count: number }>(
      database.databaseUrl,
      "SELECT count(*)::int FROM (SELECT observer_id, fencing_token, n FROM tried EXCEPT SELECT observer_id, fencing_token, n FROM written) r",
    );
    return row?.count ?? 0;
  }

  async function happen(what: "freeze" | "manager" | "broker" | "database", ids: string[]): Promise<void> {
    switch (what) {
      case "freeze":
        return freeze(ids);
      case "manager":
        await Promise.all(system.managers.filter((one) => one.exit() === null).map((one) => one.kill("SIGKILL")));
        return void (await system.startManager());
      case "broker":
        await broker.kill();
        return broker.start();
      case "database":
        await database.kill();
        return database.start();
      default:
        return what satisfies never;
    }
  }

  it.runIf(isTurnOf(2))(
    "none starts below what it has saved, and what a run with an older fencing token writes after a newer one has begun is refused by the table",
    async () => {
      const ids = await createAll();
      await allRun(ids);
      const startMs = performance.now();
      for (let kill = 0; kill < KILLS; kill += 1) {
        const victim = kill % 2 === 0 ? "a" : "b";
        for (const what of BESIDE[kill] ?? []) {
          await happen(what, ids);
          await allRun(ids);
        }
        await system.service(`${pool}-${victim}`).kill("SIGKILL");
        await serve(victim);
        await allRun(ids);
        expect(log.readOn().below).toEqual([]);
        // What is older has nothing to say to what is looked at in the end.
        if (PROVES) system.forgetActsBefore(process.hrtime.bigint() - 5_000_000_000n);
      }
      const saved = log.readOn().counts.resolved;
      await eventually(() => expect(log.readOn().counts.resolved).toBeGreaterThan(saved + COUNTERS), { timeoutMs: LONG_MS });
      await system.check({ pool, timeoutMs: LONG_MS, freshMs: 5_000 + 5 * EVERY_MS, maxLateActs: 5 });
      const { counts, below, tokensBack, reached } = log.readOn();
      expect({ below, tokensBack, counted: reached.size }).toEqual({ below: [], tokensBack: [], counted: COUNTERS });
      const [figures] = await queryRows<{ writes: string; late: string }>(
        database.databaseUrl,
        `SELECT count(*) AS writes, count(*) FILTER (WHERE is_late) AS late
       FROM (SELECT fencing_token < max(fencing_token) OVER (PARTITION BY observer_id ORDER BY id) AS is_late FROM written) w`,
      );
      expect(figures?.late).toBe("0");
      const refusals = await refused();
      expect(refusals).toBeGreaterThan(0);
      const beside = Object.values(BESIDE).flat();
      const times = (what: string) => beside.filter((one) => one === what).length;
      console.info(
        `${COUNTERS} of them in ${Math.round((performance.now() - startMs) / 1_000)} s: ${KILLS} kills of services, ${times("freeze")} frozen, ${times("manager")} of managers, ${times("broker")} of the broker, ${times("database")} of the database; ` +
          `${counts.given} starts, none below its checkpoint, ${counts.resolved} saved; ${figures?.writes} writes, ${refusals} of an older token refused, 0 got through`,
      );
    },
    3_600_000,
  );
});
