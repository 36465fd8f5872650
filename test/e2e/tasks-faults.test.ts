import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { median } from "../support/acts/gaps.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { runStatement } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";
import { BegunLast } from "../support/tasks/begun-last.ts";

const SERVICES = ["worker-1", "worker-2", "worker-3"];
const LOST = "the broker session is lost";
const WORKERS = 10;
/** Of a killed service so many may run once more that it began last: those that run, and twice as many whose ends are on the way. */
const BEGUN_LAST = 3 * WORKERS;
/** Not at once is after the 15 s that a message is waited for before it is proven absent. On a quiet machine it is 0.1 s. */
const AT_ONCE_MS = 5_000;
const ENV = { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: String(WORKERS) };

describe("tasks on three services", { timeout: 360_000 }, () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await Promise.all(SERVICES.map((name) => system.startService(name, { env: ENV })));
  });
  afterAll(() => system.close());

  test.runIf(isTurnOf(0))("ten thousand tasks run once each, and end once each", async () => {
    const tasks = new Tasks(system);
    const beganMs = performance.now();
    const ids = await tasks.createMany(10_000);
    await tasks.untilAllOver(120_000);
    const tookS = (performance.now() - beganMs) / 1_000;
    console.log(`10,000 tasks in ${tookS.toFixed(1)} s: ${Math.round(10_000 / tookS)} a second`);
    const runs = tasks.runs();
    expect(new Set(ids).size).toBe(10_000);
    expect(ids.filter((id) => runs.get(id) !== 1)).toEqual([]);
    expect(runs.size).toBe(10_000);
    const completed = await tasks.idsOf("Completed");
    expect(completed).toHaveLength(10_000);
    expect(new Set(completed).size).toBe(10_000);
  });

  test.runIf(isTurnOf(1))(
    "tasks of a service that is killed run elsewhere, each ends once in the books, and only what it began last runs again",
    async () => {
      const tasks = new Tasks(system);
      const before = new Set(await tasks.idsOf("Completed"));
      const last = new BegunLast(tasks.dir, BEGUN_LAST);
      const ids: string[] = [];
      for (const name of ["worker-1", "worker-2", "worker-1"]) {
        const alreadyRun = tasks.runs().size;
        ids.push(...(await tasks.createMany(600, { ms: 100 })));
        await eventually(() => expect(tasks.runs().size).toBeGreaterThan(alreadyRun + 50));
        const service = system.service(name);
        await last.beside([service], () => service.kill("SIGKILL"));
        expect(tasks.runs().size).toBeLessThan(ids.length); // or it would have shown nothing
        await system.startService(name, { env: ENV });
      }
      await tasks.untilAllOver();
      const completed = (await tasks.idsOf("Completed")).filter((id) => !before.has(id));
      expect(completed.toSorted()).toEqual(ids.toSorted());
      const twice = [...tasks.runs()].filter(([, count]) => count > 1).map(([id]) => id);
      const others = last.othersThan(twice);
      // Where the machine stands still, living services lose their connections, too.
      const cuts = SERVICES.flatMap((name) => system.service(name).lines).filter((line) => line.includes(LOST)).length;
      console.log(
        `${twice.length} of ${ids.length} tasks ran more than once over three kill -9, ${others.length} of them not among the ${BEGUN_LAST} ` +
          `that the killed one began last, the first of them ${last.longestAgo(twice)}th from the last; ${cuts} other connections lost`,
      );
      expect(others.length).toBeLessThanOrEqual(cuts * WORKERS);
    },
  );

  test.runIf(isTurnOf(0))(
    "a task of a killed service runs elsewhere at once, its crash counted; after the third it is Failed",
    async () => {
      const tasks = new Tasks(system);
      const { id } = await tasks.create({ ms: 600_000 });
      const tookMs: number[] = [];
      for (let crash = 0; crash < 3; crash += 1) {
        const { service } = await tasks.untilStatus(id, "Running");
        const name = service?.name ?? expect.fail("it runs nowhere");
        const killedMs = performance.now();
        await system.service(name).kill("SIGKILL");
        const moved = await eventually(async () => {
          const task = await tasks.get(id);
          expect(task.interruptions).toBe(crash + 1);
          return task;
        });
        tookMs.push(performance.now() - killedMs);
        expect(moved.status).toBe(crash < 2 ? "Running" : "Failed");
        expect(moved.interrupted).toHaveLength(crash + 1);
        const last = moved.interrupted?.at(-1);
        expect(last).toMatchObject({ reason: "service-gone", service, detail: null });
        expect(Math.abs(Date.parse(last?.at ?? "") - Date.now())).toBeLessThan(60_000);
        await system.startService(name, { env: ENV });
      }
      expect((await tasks.get(id)).lastError?.name).toBe("TaskCrashesError");
      console.log(`heard of elsewhere ${tookMs.map(Math.round).join(", ")} ms after kill -9`);
      expect(median(tookMs)).toBeLessThan(AT_ONCE_MS);
      // The fourth was told to end: its worker is free for others.
      await eventually(() => expect(tasks.runs().get(id)).toBe(4));
      await tasks.createMany(60);
      await tasks.untilAllOver();
    },
  );

  test.runIf(isTurnOf(0))("a service that is drained gives its tasks back: no interruption, and none is lost", async () => {
    const tasks = new Tasks(system);
    const ids = await tasks.createMany(30, { ms: 5_000 });
    // Not all at once: they were short before, travel together, and who waits behind others goes elsewhere after 2 s.
    await eventually(async () => {
      const { items } = await tasks.list("status=Running&limit=100");
      expect(items.map(({ service }) => service?.name)).toContain("worker-3");
    });
    await system.service("worker-3").kill("SIGTERM");
    await system.startService("worker-3", { env: ENV });
    await tasks.untilAllOver();
    for (const id of ids) expect(await tasks.get(id)).toMatchObject({ status: "Completed", interruptions: 0 });
  });

  test("tasks go on while there is no manager, and are in the books when there is one again", async () => {
    const tasks = new Tasks(system);
    const ids = await tasks.createMany(30, { ms: 20_000 });
    await eventually(async () => expect((await tasks.list("status=Running&limit=100")).items).toHaveLength(30));
    await system.managers.at(-1)?.kill("SIGKILL");
    await eventually(() => expect(tasks.runs().size).toBe(30));
    await system.startManager();
    await tasks.untilAllOver();
    const runs = tasks.runs();
    for (const id of ids) {
      expect((await tasks.get(id)).status).toBe("Completed");
      expect(runs.get(id)).toBe(1);
    }
  });

  test.runIf(isTurnOf(2))("a task queue that is purged loses no task", async () => {
    const tasks = new Tasks(system);
    await tasks.createMany(30, { ms: 25_000 });
    await eventually(async () => expect((await tasks.list("status=Running&limit=100")).items).toHaveLength(30));
    const waiting = await tasks.createMany(20);
    const sent = await eventually(async () => {
      const { items } = await tasks.list("status=Sent");
      expect(items.length).toBeGreaterThan(0);
      return items.map(({ id }) => id);
    });
    const inQueue = async () => (await system.management.queue("unacked.tasks.default")).ready;
    await eventually(async () => expect(await inQueue()).toBeGreaterThanOrEqual(sent.length));
    await system.management.purge("unacked.tasks.default");
    await tasks.untilAllOver(120_000);
    for (const id of [...sent, ...waiting]) expect((await tasks.get(id)).status).toBe("Completed");
    for (const id of sent) expect(await tasks.get(id)).toMatchObject({ sends: 2 });
    const runs = tasks.runs();
    expect(waiting.filter((id) => runs.get(id) !== 1)).toEqual([]);
  });

  test.runIf(isTurnOf(1))(
    "a task queue that is deleted loses no task: all services are told, before it is declared again",
    async () => {
      const tasks = new Tasks(system);
      const alreadyRun = tasks.runs().size;
      const ids = await tasks.createMany(1_500, { ms: 100 });
      await eventually(() => expect(tasks.runs().size).toBeGreaterThan(alreadyRun + 50));
      await system.management.deleteQueue("unacked.tasks.default");
      const isTold = (name: string) => system.service(name).lines.some((line) => line.includes('"consumer-cancelled"'));
      await eventually(() => expect(SERVICES.filter((name) => !isTold(name))).toEqual([]));
      await tasks.untilAllOver(120_000);
      const completed = new Set(await tasks.idsOf("Completed"));
      expect(ids.filter((id) => !completed.has(id))).toEqual([]);
    },
  );

  test("a task whose end was lost on the way can be cancelled", async () => {
    const tasks = new Tasks(system);
    const { id } = await tasks.create({ ms: 600_000 }, { startAt: new Date(Date.now() + 3_600_000).toISOString() });
    // As the books are when the message with the end could not be read: it runs, on a living service that knows nothing of it.
    await runStatement(
      system.env.DATABASE_URL as string,
      `UPDATE tasks SET status = 'Running', send_id = gen_random_uuid(), run_id = gen_random_uuid(), started_at = now(),
         sent_at = now() - interval '20 minutes', service_id = s.id, service_generation = s.generation
       FROM services s WHERE tasks.id = '${id}' AND s.state = 'Alive'`,
    );
    expect((await system.call("DELETE", `/api/v1/tasks/${id}`)).status).toBe(202);
    await runStatement(
      system.env.DATABASE_URL as string,
      `UPDATE tasks SET cancel_requested_at = now() - interval '61 seconds' WHERE id = '${id}'`,
    );
    await tasks.untilStatus(id, "Cancelled");
    expect(tasks.runs().get(id)).toBeUndefined();
  });

  test.runIf(isTurnOf(2))(
    "a task whose message is lost is sent again while a service dies each time as soon as it takes tasks",
    async () => {
      const tasks = new Tasks(system);
      const { id } = await tasks.create({ ms: 5 }, { startAt: new Date(Date.now() + 3_600_000).toISOString() });
      await runStatement(
        system.env.DATABASE_URL as string,
        `UPDATE tasks SET status = 'Sent', send_id = gen_random_uuid(), sends = 1, sent_at = now() - interval '1 minute'
       WHERE id = '${id}'`,
      );
      let isOver = false;
      let deaths = 0;
      async function dies(): Promise<void> {
        while (!isOver) {
          await system.service("worker-3").kill("SIGKILL");
          deaths += 1;
          const again = await system.startService("worker-3", { env: ENV, untilKnown: false });
          await again.waitForEvent("consuming-tasks");
        }
      }
      const over = tasks.untilStatus(id, "Completed").finally(() => (isOver = true));
      await Promise.all([over, dies()]);
      console.log(`sent again while a service died ${deaths} times`);
      expect(await tasks.get(id)).toMatchObject({ sends: 2 });
      await system.untilServiceKnown("worker-3");
    },
  );
});
