import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnBroker, systemOnOwnBroker } from "../support/broker/own-broker.ts";
import { memoryAlarm } from "../support/broker/rabbitmqctl.ts";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

const SERVICE = "worker";
const COUNT = 5;

describe.runIf(isTurnOf(1))("a service whose ends of tasks wait, as an alarm blocks all who publish", () => {
  let own: OwnBroker;

  beforeAll(async () => {
    own = await systemOnOwnBroker();
    await own.system.startManager();
    await own.system.startService(SERVICE, { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: String(COUNT) } });
  });
  afterAll(() => own?.close());

  it("runs none of them again when it loses its connection, and is given their messages once more", async () => {
    const { system, dir } = own;
    const tasks = new Tasks(system);
    const ids: string[] = [];
    for (let i = 0; i < COUNT; i += 1) ids.push((await tasks.create({ ms: 10_000 })).id);
    await eventually(() => expect(tasks.runs().size).toBe(COUNT));
    await memoryAlarm(dir, true);
    const service = system.service(SERVICE);
    const { url } = await service.waitForEvent("listening");
    const running = async () => (await scrape(String(url))).value("unacked_service_tasks");
    expect(await running(), "what ended before the alarm is acked, and comes to nobody").toBe(COUNT);
    await eventually(async () => expect(await running()).toBe(0));

    const consuming = () => service.lines.filter((line) => line.includes('"event":"consuming-tasks"')).length;
    await eventually(async () => {
      const connections = await system.management.connections();
      const one = connections.find(({ clientName }) => clientName.startsWith(`${SERVICE} consumes`));
      if (one !== undefined) await system.management.closeConnection(one.name);
      expect(one).toBeDefined();
    });
    await eventually(() => expect(consuming()).toBe(2), { timeoutMs: 60_000 });
    const returned = () => service.lines.filter((line) => line.includes('"event":"ended-send-returned"')).length;
    await eventually(() => expect(returned()).toBe(COUNT));

    await memoryAlarm(dir, false);
    await tasks.untilAllOver();
    expect((await tasks.idsOf("Completed")).toSorted()).toEqual(ids.toSorted());
    expect([...tasks.runs()].filter(([, count]) => count > 1)).toEqual([]);
    for (const id of ids) expect(await tasks.get(id)).toMatchObject({ interruptions: 0, sends: 1 });
  });
});
