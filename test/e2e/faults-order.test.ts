import { randomUUID } from "node:crypto";
import type { ObserverView, RunView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshSystem, type System } from "../support/system/system.ts";

let system: System;
beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
});
afterAll(() => system.close());

const runsOf = async ({ id }: ObserverView) =>
  (await system.call<{ items: RunView[] }>("GET", `/api/v1/observers/${id}/runs`)).body.items;

/** What a dispatcher sends that published, and died before it had written that down: the same start in a new message. */
async function publishAgain({ id, name, type, params, labels, retry, pool, revision, createdAt }: ObserverView) {
  const messageId = randomUUID();
  const body = { observerId: id, revision, messageId, name, type, params, labels, retry, pool, createdAt };
  const properties = { delivery_mode: 2, type: "StartObserver", message_id: messageId };
  const message = { exchange: "unacked.start", routingKey: pool, body: JSON.stringify(body), properties };
  expect(await system.management.publish(message)).toBe(true);
}

describe("a start that was published twice", () => {
  it("and comes to the service that runs it is dropped, and the run goes on", async () => {
    const pool = "twice-here";
    const service = await system.startService(pool, { env: { POOL: pool } });
    const [one] = (await system.createMany(pool, 1, {}, { pool })) as [ObserverView];
    await publishAgain(one);
    await service.waitForEvent("duplicate-dropped");
    await system.check({ pool, maxOverlapMs: 0 });
    expect((await system.get(one.id)).currentRunId).toBe(one.currentRunId);
    system.reportOverlap("published twice, one service", [one]);
  });

  it("and comes to another service: the newer run stays, the older is stopped, and one message is left", async () => {
    const pool = "twice-elsewhere";
    // Without a free worker here, the second message can only go there.
    await system.startService(`${pool}-1`, { workers: 1, env: { POOL: pool } });
    const [one] = (await system.createMany(pool, 1, {}, { pool })) as [ObserverView];
    await system.startService(`${pool}-2`, { env: { POOL: pool } });
    await publishAgain(one);
    await eventually(async () =>
      expect((await runsOf(one)).map((run) => [run.service?.name, run.state, run.endReason])).toEqual([
        [`${pool}-2`, "Current", null],
        [`${pool}-1`, "Ended", "duplicate"],
      ]),
    );
    // They run side by side until the manager has heard of it.
    await system.check({ pool, maxOverlapMs: 3_000 });
    system.reportOverlap("published twice, two services", [one]);
  });
});

describe("events that arrive in another order than the leases were held", () => {
  it("a start that arrives late, of a run that is gone: the holder says that it holds, and keeps the job", async () => {
    const pool = "late-start";
    const wire = await system.wire();
    const service = await system.startService(pool, { wire, env: { POOL: pool } });
    // The old holder takes the job while nothing that it says gets through.
    wire.only(`${pool} publishes`).blackhole();
    const { body: created } = await system.create(pool, {}, { pool });
    await eventually(() => expect(system.actingByPid().get(service.pid)).toContain(created.id));
    const heir = await system.startService(`${pool}-heir`, { env: { POOL: pool } });
    await wire.refuse();
    wire.only(`${pool} consumes`).reset();
    await system.untilStatus([created.id], "Processing");
    const held = await system.get(created.id);
    expect(held.service?.name).toBe(`${pool}-heir`);
    await wire.heal();
    // The late start makes its run current for a moment, until the holder answers that it holds the message.
    await eventually(async () => {
      const runs = await runsOf(created);
      expect(runs.map((run) => [run.service?.name, run.state]).sort()).toEqual([
        [pool, "Ended"],
        [`${pool}-heir`, "Current"],
      ]);
      expect((await system.get(created.id)).currentRunId).toBe(held.currentRunId);
    });
    await eventually(() => expect(system.actingByPid().get(heir.pid)).toContain(created.id));
    await system.check({ pool, maxOverlapMs: 3_000 });
    system.reportOverlap("start that arrives late", [held]);
  });
});
