import { randomUUID } from "node:crypto";
import type { WorkView } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const COUNT = 2_000;

let system: System;
beforeEach(async () => {
  system = await freshSystem();
});
afterEach(() => system.close());

const read = async (id: string): Promise<WorkView> => (await system.call<WorkView>("GET", `/api/v1/work/${id}`)).body;

describe("bulk work", () => {
  test.runIf(isTurnOf(0))(
    "asks each observer once, whichever manager is killed in the middle of it; begun twice is begun once",
    async () => {
      const doomed = await system.startManager({ speakTo: false });
      await system.startManager();
      await system.startService("alpha", { workers: COUNT });
      const ids = await system.createCrowd("crowd", COUNT, { everyMs: 3_000 });
      const id = randomUUID();
      const json = { id, act: "restart", filter: { q: "crowd" } };
      expect((await system.call("POST", "/api/v1/work", json)).status).toBe(201);
      const again = await system.call<WorkView>("POST", "/api/v1/work", json);
      expect([again.status, again.body.total]).toEqual([200, COUNT]);
      let kills = 0;
      let next = doomed;
      for (let seen = 0; kills < 3; kills += 1) {
        const { done, status } = await eventually(async () => {
          const work = await read(id);
          expect(work.status !== "Running" || work.done > seen).toBe(true);
          return work;
        });
        if (status !== "Running") break;
        seen = done;
        await next.kill("SIGKILL");
        next = await system.startManager({ speakTo: false, untilReady: false });
      }
      const work = await eventually(
        async () => {
          const now = await read(id);
          expect(now.status).toBe("Done");
          return now;
        },
        { timeoutMs: 60_000 },
      );
      expect(work).toMatchObject({ total: COUNT, done: COUNT, failed: 0, leftAlone: 0, remaining: 0 });
      const trail = await queryRows<{ count: number; entries: number }>(
        system.env["DATABASE_URL"] ?? "",
        "SELECT sum(count)::int AS count, count(*)::int AS entries FROM audit WHERE deed = 'observer.restart'",
      );
      expect(trail).toEqual([{ count: COUNT, entries: 1 }]);
      await system.untilStatus(ids, "Processing", 60_000);
      await eventually(
        async () => {
          const runs = new Set((await system.observers(ids)).map(({ runNumber }) => runNumber));
          expect([...runs]).toEqual([2]);
        },
        { timeoutMs: 60_000 },
      );
      await system.check({ timeoutMs: 60_000, freshMs: 30_000 });
      console.log(
        `${COUNT} restarted over ${kills} kills of a manager in ${Date.parse(work.endedAt ?? "") - Date.parse(work.begunAt)} ms: each once`,
      );
    },
    400_000,
  );
});
