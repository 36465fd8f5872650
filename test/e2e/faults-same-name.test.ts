import type { ObserverView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

describe.runIf(isTurnOf(0))("two services that were given the same name (fault 18)", () => {
  let system: System;
  let observers: ObserverView[];

  const startTwin = (key: string) => system.startService(key, { env: { SERVICE_NAME: "twin" }, untilKnown: false });
  const twins = async () => (await system.listServices()).filter((one) => one.name === "twin");
  const ids = () => observers.map((one) => one.id);

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await Promise.all([startTwin("twin-a"), startTwin("twin-b")]);
    await eventually(async () => expect((await twins()).map((one) => one.state)).toEqual(["Alive", "Alive"]));
    observers = await system.createMany("observer", 20);
  });
  afterAll(() => system.close());

  it("are both listed, each under its own id with what it runs, and both keep on in their first generation", async () => {
    const listed = await twins();
    expect(new Set(listed.map((one) => one.id)).size).toBe(2);
    const pids = [...system.services.values()].map((service) => service.pid);
    expect(new Set(listed.map((one) => one.pid))).toEqual(new Set(pids));
    for (const { id, pid } of listed) {
      const here = observers.filter((one) => one.service?.id === id).map((one) => one.id);
      expect(here).toHaveLength(10);
      await eventually(() => expect(system.actingByPid().get(pid)).toEqual(new Set(here)));
    }
    await system.check();
    system.reportOverlap("same name twice", observers);
    expect((await twins()).map((one) => [one.state, one.generation])).toEqual([
      ["Alive", 1],
      ["Alive", 1],
    ]);
    expect([...system.services.values()].map((service) => service.exit())).toEqual([null, null]);
  });

  it("are reported, with what to do", async () => {
    const { warnings } = await system.stats();
    expect(warnings.find((one) => one.code === "same-service-name")).toMatchObject({
      subject: "twin",
      remedy: expect.stringContaining("SERVICE_NAME"),
    });
  });

  it("are told apart when one dies: the other's runs are untouched, and a successor under the name takes the dead one's", async () => {
    const kept = await twins();
    const doomed = system.service("twin-a");
    const survivor = kept.find((one) => one.pid !== doomed.pid);
    const untouched = observers.filter((one) => one.service?.id === survivor?.id);
    await doomed.kill("SIGKILL");
    await startTwin("twin-a");
    await eventually(
      async () => {
        const after = await system.observers(ids());
        expect(after.map((one) => one.status)).toEqual(after.map(() => "Processing"));
        expect(after.filter((one) => one.service?.id === survivor?.id)).toHaveLength(10);
        const dead = (await system.listServices("?all=true")).find((one) => one.pid === doomed.pid);
        expect(dead?.state).toBe("Gone");
      },
      { timeoutMs: 15_000 },
    );
    const after = await system.observers(untouched.map((one) => one.id));
    expect(after.map((one) => one.currentRunId)).toEqual(untouched.map((one) => one.currentRunId));
    await system.check();
    system.reportOverlap("one of two of a name killed", observers);
  });
});
