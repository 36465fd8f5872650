import type { ErrorEntry, ObserverView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshSystem, type System } from "../support/system/system.ts";

describe("an observer whose handler misbehaves", () => {
  let system: System;
  let neighbours: ObserverView[];

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await system.startService("service-1", { workers: 30 });
    neighbours = await system.createMany("neighbour", 5);
  });
  afterAll(() => system.close());

  /** The neighbours are still the same runs as at the beginning. */
  const neighboursGoOn = async () => {
    const now = await system.observers(neighbours.map((one) => one.id));
    expect(now.map((one) => [one.status, one.currentRunId])).toEqual(
      neighbours.map((one) => ["Processing", one.currentRunId]),
    );
  };

  it("is retried in place by its policy: Retrying, the attempts counted, the error kept", async () => {
    const retry = { maxAttempts: "unlimited", delaysMs: [10_000] };
    const { body } = await system.create("retried", { throwAfterMs: 10, throwTimes: 1 }, { retry });
    await system.untilStatus([body.id], "Retrying");
    const retrying = await system.get(body.id);
    expect(retrying).toMatchObject({ attempts: 1, lastError: { message: "thrown on request" }, epoch: 1 });
    expect(Date.parse(retrying.nextAttemptAt as string)).toBeGreaterThan(Date.now());
    await system.untilStatus([body.id], "Processing");
    expect(await system.get(body.id)).toMatchObject({ attempts: 2, epoch: 1, currentRunId: retrying.currentRunId });
    await neighboursGoOn();
    await system.check();
  });

  it("is Failed with its attempts used up, its message among the errors, and a restart runs it again", async () => {
    const retry = { maxAttempts: 2, delaysMs: [10] };
    const { body } = await system.create("hopeless", { throwAfterMs: 10, throwTimes: 2 }, { retry });
    await system.untilStatus([body.id], "Failed");
    expect(await system.get(body.id)).toMatchObject({
      attempts: 2,
      lastError: { message: "thrown on request" },
      service: null,
    });
    await eventually(async () => {
      const { body: errors } = await system.call<{ items: ErrorEntry[] }>("GET", "/api/v1/errors");
      const mine = errors.items.filter((one) => one.observerId === body.id);
      expect(mine).toMatchObject([{ reason: "retries-used-up", queue: "unacked.work.default" }]);
      expect(JSON.parse(mine[0]?.body as string)).toMatchObject({ name: "hopeless", observerId: body.id });
    });
    const restarted = await system.call<ObserverView>("POST", `/api/v1/observers/hopeless/restart`);
    expect(restarted.status).toBe(202);
    await system.untilStatus([body.id], "Processing");
    expect(await system.get(body.id)).toMatchObject({ revision: 2, epoch: 2 });
    await neighboursGoOn();
    await system.check();
  });

  it("fails alone when it throws from a timer, or rejects a promise that nobody awaits", async () => {
    for (const throwFrom of ["timer", "rejection"]) {
      const { body } = await system.create(
        `from-${throwFrom}`,
        { throwAfterMs: 20, throwFrom },
        { retry: { maxAttempts: 1 } },
      );
      await system.untilStatus([body.id], "Failed");
      expect((await system.get(body.id)).lastError?.message).toContain("thrown on request");
    }
    expect(system.service("service-1").exit()).toBeNull();
    await neighboursGoOn();
    await system.check();
  });

  it("is Completed when its handler returns, and a restart runs it again", async () => {
    const { body } = await system.create("returning", { returnAfterMs: 50 });
    await system.untilStatus([body.id], "Completed");
    await system.check();
    await system.call("POST", `/api/v1/observers/returning/restart`);
    await eventually(async () =>
      expect(await system.get(body.id)).toMatchObject({ status: "Completed", epoch: 2, revision: 2 }),
    );
    await system.check();
  });

  it("is restarted in place while it runs: a new run, the old one stopped first, its message never acked", async () => {
    const [before] = (await system.createMany("restarted", 1, { stopDelayMs: 200 })) as [ObserverView];
    expect((await system.call("POST", `/api/v1/observers/${before.id}/restart`)).status).toBe(202);
    await eventually(async () => {
      const after = await system.get(before.id);
      expect(after).toMatchObject({ status: "Processing", epoch: 2, revision: 1 });
      expect(after.currentRunId).not.toBe(before.currentRunId);
    });
    await system.check({ maxOverlapMs: 0 });
  });

  it("throws a text with a NUL character: the state queue goes on", async () => {
    const { body } = await system.create("nul", { throwAfterMs: 10, throwWhat: "nul" }, { retry: { maxAttempts: 1 } });
    await system.untilStatus([body.id], "Failed");
    await neighboursGoOn();
    await system.check();
  });
});
