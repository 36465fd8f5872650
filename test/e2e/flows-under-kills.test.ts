import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows } from "../support/servers/servers.ts";
import { fannedFlow } from "../support/system/fanned-flow.ts";
import { FLOW_TASKS_DIR, Flows } from "../support/system/flows.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const FLOWS = proves("flows") ? 1_000 : 30;
const SERVICES = ["worker-1", "worker-2", "worker-3"];
const ENV = { OBSERVERS_DIR: FLOW_TASKS_DIR, TASK_WORKERS: "10" };
const PAUSE_MS = 1_500;

describe.runIf(isTurnOf(1))("flows while services and managers are killed", { timeout: 900_000 }, () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await system.startManager();
    await Promise.all(SERVICES.map((name) => system.startService(name, { env: ENV })));
  });
  afterAll(() => system.close());

  test(`each task of ${FLOWS} flows of 20 ends once in the books, and each result is passed on`, async () => {
    const flows = new Flows(system);
    const { pieces, sum } = fannedFlow();
    // Slow enough that there is something to kill.
    const slow = pieces.map((piece) => ({ ...piece, params: { ...piece.params, ms: 20 } }));
    const ids: string[] = [];
    for (let i = 0; i < FLOWS; i += 1) ids.push((await flows.create(slow)).id);
    const beganMs = performance.now();
    const left = async (): Promise<number> => (await flows.list("status=Running&limit=1")).total;
    let kills = 0;
    for (let round = 0; (await left()) > 0 || round < 4; round += 1) {
      if (round % 4 === 3) {
        // The older of the two: the one that reads what services say.
        await system.managers.find((manager) => manager.exit() === null)?.kill("SIGKILL");
        await system.startManager();
      } else {
        const name = SERVICES[round % SERVICES.length] as string;
        await system.service(name).kill("SIGKILL");
        await system.startService(name, { env: ENV });
      }
      kills += 1;
      if (kills >= FLOWS / 10 + 4) break;
      await sleep(PAUSE_MS);
    }
    await eventually(async () => expect(await left()).toBe(0), { what: "the end of all flows", timeoutMs: 600_000 });
    const tookS = (performance.now() - beganMs) / 1_000;
    for (const id of ids) {
      const flow = await flows.get(id);
      expect(flow, JSON.stringify(flow)).toMatchObject({
        status: "Completed",
        reason: null,
        tasks: { total: 20, completed: 20 },
      });
      expect((await flows.tasks(id, true))["last"]?.output).toEqual({ sum });
    }
    const url = system.env.DATABASE_URL ?? "";
    const [books] = await queryRows<{ ended: number; once: number; live: number; ends: number }>(
      url,
      `SELECT count(*)::int AS ended, count(DISTINCT id)::int AS once, (SELECT count(*)::int FROM tasks) AS live,
              (SELECT count(*)::int FROM flow_ends) AS ends FROM ended_tasks WHERE flow_id IS NOT NULL`,
    );
    expect(books).toEqual({ ended: FLOWS * 20, once: FLOWS * 20, live: 0, ends: 0 });
    const more = [...flows.runs().values()].filter((count) => count > 1).length;
    console.log(
      `${FLOWS} flows of 20, ${kills} kills: ${tookS.toFixed(1)} s; ${more} of ${FLOWS * 20} tasks ran more than once`,
    );
  });
});
