import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { systemOnOwnBroker } from "../support/broker/own-broker.ts";
import { memoryAlarm } from "../support/broker/rabbitmqctl.ts";
import { TimerListener } from "../support/broker/timer-listener.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshVhost, privatePostgres } from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";
import { newIds, Timers } from "../support/time/timers.ts";

/* The crash table of docs/decisions/0014-timers.md: servers that block, or go. */

const DUE = 8_000;
/** So many that the database is away before all have been fired, however fast. */
const DUE_AT_THE_DEATH = 20_000;

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp().catch(() => undefined);
});
const listen = async (system: System) => {
  const listener = await TimerListener.listen(system.env.AMQP_URL as string, "#");
  cleanUps.push(() => listener.close());
  return listener;
};

test.runIf(isTurnOf(0))(
  "An alarm of the broker holds up what is due, which can still be cancelled; when it is over, each of the others is heard once",
  async () => {
    const own = await systemOnOwnBroker();
    cleanUps.push(() => own.close());
    const { system, dir } = own;
    const timers = new Timers(system);
    await system.startManager();
    await system.startManager({ speakTo: false });
    const listener = await listen(system);
    const before = newIds(200);
    await timers.putAll(before, () => Date.now());
    await timers.untilHeard(listener, before);
    await memoryAlarm(dir, true);
    // More than two managers have under way at once.
    const due = newIds(DUE);
    await timers.putAll(due, () => Date.now());
    // What was in the sockets when the broker told that it blocks is Firing, or nothing, as it has told so already; from then on nothing is claimed.
    const firing = async () =>
      (await system.call<{ total: number }>("GET", "/api/v1/timers?status=Firing&limit=1")).body.total;
    await sleep(12_000); // longer than a confirm may take, and than a lease
    const held = await firing();
    expect(held).toBeLessThan(DUE);
    const told = await timers.cancelEach(due.slice(-100));
    await memoryAlarm(dir, false);
    const fired = due.filter((id) => !told.some((one) => one.id === id && one.outcome === "cancelled"));
    await timers.untilHeard(listener, [...before, ...fired]);
    await timers.untilNoneIsLeft();
    console.log(`alarm for 12 s: ${held} were on their way, ${DUE - fired.length} were cancelled meanwhile`);
    expect(listener.heard).toHaveLength(200 + fired.length);
    expect((await timers.ended()).filter(({ last_problem }) => last_problem !== null)).toEqual([]);
  },
  240_000,
);

test.runIf(isTurnOf(1))(
  "The database goes between the confirms and their being written: none is fired twice for it, and none is left",
  async () => {
    const database = await privatePostgres();
    const { amqpUrl, management } = await freshVhost();
    const system = new System({ amqpUrl, databaseUrl: database.databaseUrl, management });
    cleanUps.push(() => system.close());
    const timers = new Timers(system);
    await system.startManager();
    await system.startManager({ speakTo: false });
    const listener = await listen(system);
    const ids = newIds(DUE_AT_THE_DEATH);
    const at = Date.now() + 30_000; // to put them takes 2 s, or 10 on a machine that does much else
    await timers.putAll(ids, () => at);
    expect(Date.now()).toBeLessThan(at);
    await eventually(() => expect(listener.heard.length).toBeGreaterThan(0), { timeoutMs: 60_000 });
    await database.kill();
    await sleep(9_000); // every lease has lapsed
    const heard = listener.heard.length;
    expect(heard).toBeLessThan(DUE_AT_THE_DEATH);
    await database.start();
    await timers.untilHeard(listener, ids, 120_000);
    await timers.untilNoneIsLeft();
    const rows = await timers.ended();
    const unsure = rows.filter((row) => row.last_problem !== null).length;
    console.log(
      `the database was away for 9 s: ${heard} were heard by then, ${listener.heard.length - DUE_AT_THE_DEATH} twice, ${unsure} taken over`,
    );
    expect(rows.filter(({ status }) => status !== "Fired")).toEqual([]);
    expect([rows.length, listener.heard.length]).toEqual([DUE_AT_THE_DEATH, DUE_AT_THE_DEATH]);
  },
  240_000,
);
