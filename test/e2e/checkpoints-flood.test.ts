import { readFileSync } from "node:fs";
import type { BatchResults } from "@unacked/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import type { Postgres } from "../../scripts/servers/postgres.mjs";
import { eventually } from "../support/eventually.ts";
import { slotsOf } from "../support/processes/process-tree.ts";
import { proves } from "../support/runs/counts.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { SaveLog } from "../support/runs/saves.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { type PrivateBroker, privateBroker, privatePostgres, queryRows } from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";

const PROVES = proves("checkpoints");
const RUNS = PROVES ? 1_000 : 200;
/** How long the database is away. */
const AWAY_MS = PROVES ? 300_000 : 20_000;
const BYTES_PER_S = 1_048_576; // the default
const SERVICES = 2;
const LONG_MS = 300_000;
const MIB = 1_048_576;

describe(`${RUNS} runs that save 64 KiB as fast as they can`, () => {
  let broker: PrivateBroker;
  let database: Postgres;
  let system: System;

  beforeAll(async () => {
    [broker, database] = await Promise.all([privateBroker(), privatePostgres()]);
    const env = { CHECKPOINT_EVERY_MS: "100", CHECKPOINT_BYTES_PER_S: String(BYTES_PER_S) };
    system = new System({ amqpUrl: broker.amqpUrl, databaseUrl: database.databaseUrl, management: broker.management, env });
    await system.startManager();
    for (let i = 1; i <= SERVICES; i += 1)
      await system.startService(`service-${i}`, {
        workers: RUNS / SERVICES,
        env: { OBSERVERS_DIR: compiled("admitted") },
      });
    return () => system.close();
  }, 240_000);

  async function createAll(): Promise<string[]> {
    const params = { file: system.actsFile, padBytes: 65_000, flood: true, everyMs: PROVES ? 200 : 50 };
    const observers = Array.from({ length: RUNS }, (_, i) => ({ name: `flood-${i}`, type: "counter", params }));
    const { body } = await system.call<BatchResults>("POST", "/api/v1/observers/batch", { observers });
    return body.results.map((result) => {
      if (!("observer" in result)) throw new Error(`not created: ${JSON.stringify(result)}`);
      return result.observer.id;
    });
  }
  const queue = async () => {
    const { message_bytes: bytes = 0, messages = 0 } = (await broker.management.call(
      "GET",
      "/queues/%2F/unacked.state",
    )) as Record<string, number>;
    return { bytes, messages };
  };
  const alarms = async () => {
    const nodes = (await broker.management.call("GET", "/nodes")) as { mem_alarm: boolean; disk_free_alarm: boolean }[];
    return nodes.filter((node) => node.mem_alarm || node.disk_free_alarm).length;
  };
  const rssMib = (pid: number) =>
    Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024);
  const memory = () => {
    const keepers = [...system.services.values()].map(({ pid }) => pid);
    return {
      keepers: keepers.map(rssMib),
      slots: keepers.flatMap(slotsOf).map(rssMib),
      manager: system.managers.map(({ pid }) => rssMib(pid)),
    };
  };

  it.runIf(isTurnOf(1))(
    "fill neither memory nor the queue while the database is away, raise no alarm, and the latest is there afterwards",
    async () => {
      const ids = await createAll();
      await system.untilStatus(ids, "Processing", LONG_MS);
      const log = new SaveLog(system.actsFile);
      // All have saved once: nothing that is measured is still to be warmed up.
      await eventually(() => expect(log.readOn().reached.size).toBe(RUNS), { timeoutMs: LONG_MS, what: "a save of each" });
      const before = { memory: memory(), queue: await queue() };
      await database.kill();
      const beganMs = performance.now();
      const seen = { bytes: 0, messages: 0, alarms: 0, keeper: 0, slot: 0, manager: 0 };
      await eventually(
        async () => {
          const [{ bytes, messages }, alarmed, { keepers, slots, manager }] = [await queue(), await alarms(), memory()];
          seen.bytes = Math.max(seen.bytes, bytes);
          seen.messages = Math.max(seen.messages, messages);
          seen.alarms += alarmed;
          seen.keeper = Math.max(seen.keeper, ...keepers);
          seen.slot = Math.max(seen.slot, ...slots);
          seen.manager = Math.max(seen.manager, ...manager);
          expect(performance.now() - beganMs).toBeGreaterThan(AWAY_MS);
        },
        { timeoutMs: 2 * AWAY_MS, what: "that the database has been away for long enough" },
      );
      const savedMeanwhile = log.readOn().counts.resolved;
      const awayS = (performance.now() - beganMs) / 1_000;
      await database.start();
      console.info(
        `${RUNS} runs, ${Math.round(awayS)} s without the database: ${seen.messages} batches, ${Math.round(seen.bytes / MIB)} MiB in the state queue ` +
          `(budget ${Math.round((SERVICES * BYTES_PER_S * awayS) / MIB)} MiB); alarms ${seen.alarms}; ` +
          `RSS of a keeper ${Math.max(...before.memory.keepers)} -> ${seen.keeper} MiB, a slot ${Math.max(...before.memory.slots)} -> ${seen.slot} MiB, ` +
          `the manager ${before.memory.manager.join(" ")} -> ${seen.manager} MiB; ${savedMeanwhile} saves confirmed`,
      );
      expect(seen.alarms).toBe(0);
      // A budget's second at the beginning, and what the events themselves take.
      expect(seen.bytes - before.queue.bytes).toBeLessThan(SERVICES * BYTES_PER_S * (awayS + 2) * 1.5);
      // What each run holds is its latest, here and on its way: 64 KiB thrice for each run of a service, and as much garbage.
      const heldMib = (RUNS / SERVICES) * (65_536 / MIB);
      expect(seen.keeper - Math.max(...before.memory.keepers)).toBeLessThan(6 * heldMib + 100);
      await Promise.all(system.managers.filter((one) => one.exit() !== null).map(() => system.startManager()));
      await eventually(async () => expect((await system.call("GET", "/readyz")).status).toBe(200), { timeoutMs: LONG_MS });
      // Behind a long queue not each is taken at once.
      await eventually(
        async () => {
          const all = await system.observers(ids);
          const left = all.flatMap(({ id, status, pending }) => (status === "Paused" || pending === "pause" ? [] : [id]));
          if (left.length > 0) await system.call("POST", "/api/v1/observers/pause", { ids: left });
          expect(left).toEqual([]);
        },
        { timeoutMs: LONG_MS, what: "that all are to pause" },
      );
      await system.untilStatus(ids, "Paused", LONG_MS);
      const { reached, below } = log.readOn();
      expect(below).toEqual([]);
      const stored = await queryRows<{ observer_id: string; n: number }>(
        database.databaseUrl,
        `SELECT DISTINCT ON (observer_id) observer_id, (value::jsonb ->> 'n')::float8 AS n FROM checkpoints
       WHERE is_started ORDER BY observer_id, fencing_token DESC`,
      );
      const lost = stored.filter(({ observer_id: id, n }) => n < (reached.get(id) ?? 0));
      expect({ stored: stored.length, lost }).toEqual({ stored: RUNS, lost: [] });
    },
    1_800_000,
  );
});
