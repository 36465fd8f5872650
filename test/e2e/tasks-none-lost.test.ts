import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Postgres } from "../../scripts/servers/postgres.mjs";
import { eventually } from "../support/eventually.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import {
  freshDatabase,
  freshVhost,
  type PrivateBroker,
  privateBroker,
  privatePostgres,
} from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";
import { BegunLast } from "../support/tasks/begun-last.ts";

const FULL = proves("tasks");
const COUNT = FULL ? 100_000 : 4_000;
const SERVICES = ["worker-1", "worker-2", "worker-3", "worker-4", "worker-5"];
const WORKERS = 20;
/** Each lasts so long: in the short form there is work left at the last kill. */
const MS = FULL ? 5 : 20;
const ENV = { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: String(WORKERS), SLOTS: "1" };
const LOST = "the broker session is lost";
const KILL_EVERY_MS = 2_000;
/** How often it is asked how many have run. */
const LOOK_EVERY_MS = 200;
/** Of each service that goes so many may run once more that it began last: those that run, and twice as many whose ends are on the way. */
const BEGUN_LAST = 3 * WORKERS;
const SAID_WITHIN_MS = 900_000;

/** A hundred task workers; each slot writes the ids that it runs into a file of its own. */
describe(`${COUNT} tasks on ${SERVICES.length} services`, { timeout: 2 * SAID_WITHIN_MS }, () => {
  let broker: PrivateBroker;
  let database: Postgres;
  let system: System;

  beforeAll(async () => {
    [broker, database] = await Promise.all([privateBroker(), privatePostgres()]);
    const { amqpUrl, management } = await freshVhost(broker);
    const { databaseUrl } = await freshDatabase(database);
    system = new System({ amqpUrl, databaseUrl, management });
    await system.startManager();
    for (const name of SERVICES) await system.startService(name, { env: ENV });
  }, 240_000);
  afterAll(() => system?.close());

  /** By what the books say of each that was made here: how many, and how often they ran. */
  async function account(tasks: Tasks, ids: string[]): Promise<{ completed: number; twice: string[] }> {
    const completed = (await tasks.idsOf("Completed")).filter((id) => wanted.has(id));
    const runs = tasks.runs();
    expect([...runs.keys()].filter((id) => !wanted.has(id))).toEqual([]);
    expect(ids.filter((id) => !runs.has(id))).toEqual([]);
    expect(new Set(completed).size).toBe(completed.length);
    return { completed: completed.length, twice: ids.filter((id) => (runs.get(id) ?? 0) > 1) };
  }
  let wanted = new Set<string>();

  async function create(tasks: Tasks): Promise<string[]> {
    const ids = await tasks.createMany(COUNT, { ms: MS });
    wanted = new Set(ids);
    expect(wanted.size).toBe(COUNT);
    return ids;
  }

  // In a short form it is the first of tasks-faults.
  test.runIf(FULL)("without faults each runs once, and ends once", async () => {
    const tasks = new Tasks(system);
    const ids = await create(tasks);
    await tasks.untilAllOver(SAID_WITHIN_MS);
    expect(await account(tasks, ids)).toEqual({ completed: COUNT, twice: [] });
  });

  test.runIf(isTurnOf(2))(
    `with a service killed every ${KILL_EVERY_MS / 1_000} s, and manager, broker and database once: each ends once, and only what a service that goes began last runs again`,
    async () => {
      const tasks = new Tasks(system);
      const ids = await create(tasks);
      const last = new BegunLast(tasks.dir, BEGUN_LAST);
      const done = () => tasks.runs().size / COUNT;
      const isLeft = () => expect(done(), "a fault when all is done shows nothing").toBeLessThan(1);
      const otherFaults: [number, string, () => Promise<unknown>][] = [
        [
          0.25,
          "manager",
          () =>
            system.managers
              .at(-1)
              ?.kill("SIGKILL")
              .then(() => system.startManager()) ?? Promise.reject(),
        ],
        [0.5, "broker", () => last.beside([...system.services.values()], () => broker.kill().then(() => broker.start()))],
        [0.75, "database", () => database.kill().then(() => database.start())],
      ];
      /** Each when so many have run, and the one before is over. */
      async function killOthers(): Promise<void> {
        for (const [share, what, kill] of otherFaults) {
          while (done() < share) await sleep(LOOK_EVERY_MS);
          isLeft();
          console.log(`${what} killed at ${Math.round(done() * 100)} %`);
          await kill();
        }
      }
      let kills = 0;
      async function killServices(): Promise<void> {
        for (let i = 0; done() < 1; i += 1) {
          const service = system.service(SERVICES[i % SERVICES.length] as string);
          await last.beside([service], () => service.kill("SIGKILL"));
          kills += 1;
          const { name } = service;
          const again = await system.startService(name, { env: ENV, untilKnown: false });
          await Promise.all([again.waitForEvent("consuming-tasks"), sleep(KILL_EVERY_MS)]);
        }
      }
      await Promise.all([killServices(), killOthers()]);
      await eventually(async () => expect((await system.call("GET", "/readyz")).status).toBe(200), { timeoutMs: 60_000 });
      await tasks.untilAllOver(SAID_WITHIN_MS);
      const { completed, twice } = await account(tasks, ids);
      expect(completed).toBe(COUNT);
      const others = last.othersThan(twice);
      const lost = [...system.services.values()].map(({ lines }) => lines.filter((line) => line.includes(LOST)).length);
      // Where the machine stands still, living services lose theirs, too, beside the one that all lose with the broker.
      const cuts = lost.reduce((sum, count) => sum + Math.max(0, count - 1), 0);
      console.log(
        `${COUNT} tasks, ${kills} services killed, ${cuts} other connections lost: ${twice.length} ran more than once, ` +
          `${others.length} of them not among the ${BEGUN_LAST} that such a service began last, the first of them ${last.longestAgo(twice)}th from the last`,
      );
      expect(kills).toBeGreaterThan(1);
      expect(others.length).toBeLessThanOrEqual(cuts * WORKERS);
      const { items } = (await system.call<{ items: unknown[] }>("GET", "/api/v1/errors")).body;
      expect(items).toEqual([]);
    },
  );
});
