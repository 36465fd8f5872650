import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { builtRelease, lastRelease } from "../support/releases.ts";
import { freshSystem, type System } from "../support/system.ts";

const release = lastRelease();
if (release === undefined)
  console.warn("there is no release before this version (no tag v… behind what is checked out): nothing runs beside it");

/** As docs/upgrade.md has it: managers first, then the services one by one; and both versions on one broker in between. */
describe.skipIf(release === undefined)(`an upgrade from ${release}`, { timeout: 90_000 }, () => {
  let root: string;
  let system: System;
  let ids: string[];

  const observers = () => system.observers(ids);
  const untilAllRun = () => system.untilStatus(ids, "Processing", 30_000);
  const untilSomeRunOn = (name: string) =>
    eventually(async () => expect((await observers()).map(({ service }) => service?.name)).toContain(name), {
      timeoutMs: 20_000,
    });

  beforeAll(async () => {
    root = builtRelease(release ?? "");
    system = await freshSystem();
    await system.startManager({ root });
    await system.startService("service-1", { root });
    await system.startService("service-2", { root });
    ids = (await system.createMany("observer", 12, {}, { whenFull: "queue" })).map(({ id }) => id);
  }, 600_000);
  afterAll(() => system.close());

  it("of the manager, beside the old one and then in its place, moves no observer", async () => {
    const before = await observers();
    await system.startManager();
    expect(await system.managers[0]?.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await eventually(async () =>
      expect((await system.listServices()).map(({ state }) => state)).toEqual(["Alive", "Alive"]),
    );
    expect((await observers()).map(({ epoch, service }) => [epoch, service])).toEqual(
      before.map(({ epoch, service }) => [epoch, service]),
    );
    await system.check();
  });

  it("leaves old services that the new manager creates, restarts, fails and stops observers on", async () => {
    const [created] = await system.createMany("created", 1);
    const { body: failing } = await system.create(
      "failing",
      { throwAfterMs: 10 },
      { retry: { maxAttempts: 2, delaysMs: [10] } },
    );
    await system.untilStatus([failing.id], "Failed");
    const [restarted] = await observers();
    expect((await system.call("POST", `/api/v1/observers/${restarted?.id}/restart`)).status).toBe(202);
    await eventually(async () =>
      expect((await system.get(restarted?.id ?? "")).epoch).toBeGreaterThan(restarted?.epoch ?? 0),
    );
    await system.remove(created?.id ?? "");
    await untilAllRun();
    await system.check();
  });

  it("lets old and new services take over from each other", async () => {
    await system.startService("service-3", { workers: 20 });
    await system.service("service-1").kill("SIGKILL");
    await untilSomeRunOn("service-3");
    await untilAllRun();
    await system.startService("service-1", { root, workers: 20 });
    await system.service("service-3").kill("SIGKILL");
    await untilSomeRunOn("service-1");
    await untilAllRun();
    await system.check();
  });

  it("of the services, one by one, loses and doubles none", async () => {
    for (const name of ["service-1", "service-2"]) {
      expect(await system.service(name).kill("SIGTERM")).toEqual({ code: 0, signal: null });
      await system.startService(name, { workers: 20 });
      await untilAllRun();
    }
    await system.check();
  });
});
