import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type Bystander, startBystander } from "../support/processes/bystander.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const FLOODS = 10;
/** Where a bare process stands still for so long, slots are taken for stuck (STUCK_MS), and rightly. */
const STILL_MS = 1_000;

describe.runIf(isTurnOf(0))("process observers that print to stderr without end", () => {
  let system: System;
  let bystander: Bystander;

  beforeAll(async () => {
    bystander = await startBystander();
    system = await freshSystem({
      heartbeatS: 4,
      env: { ALLOW_PROCESS_OBSERVERS: "true", PROCESS_COMMANDS: "sh", STOP_TIMEOUT_MS: "10000" },
    });
    await system.startManager();
    await system.startService("flooded", { workers: 30, env: { OBSERVERS_DIR: "observers" } });
  });
  afterAll(async () => {
    await bystander?.end();
    await system?.close();
  });

  it(`cost nobody anything, ${FLOODS} of them at once: lease and slots hold, no neighbour counts a failure, and they stop`, async () => {
    const { body: neighbour } = await system.call<{ id: string }>("POST", "/api/v1/observers", {
      name: "neighbour",
      type: "ticker",
      params: { everyMs: 200 },
    });
    const fromNs = process.hrtime.bigint();
    const floods = Array.from({ length: FLOODS }, (_, i) => `flood-${i}`);
    for (const name of floods) {
      const params = { command: "sh", args: ["-c", "exec yes '' >&2"] };
      expect((await system.call("POST", "/api/v1/observers", { name, type: "process", params })).status).toBe(201);
    }
    await system.untilStatus([...floods, "neighbour"], "Processing");
    const { url } = await system.service("flooded").waitForEvent("listening");
    // Three heartbeats: a lease that is to be lost is lost by then.
    const untilMs = performance.now() + 12_000;
    await eventually(
      async () => {
        const readiness = await fetch(`${String(url)}/readyz`);
        expect({ status: readiness.status, body: await readiness.json() }).toMatchObject({
          status: 200,
          body: { leaseHeld: true },
        });
        expect(performance.now()).toBeGreaterThan(untilMs);
      },
      { timeoutMs: 20_000 },
    );
    const [service] = await system.listServices();
    expect(service).toMatchObject({ generation: 1 });
    console.log(
      `${FLOODS} floods: the service's worst lag ${service?.eventLoopLagMs} ms, its slots' ${JSON.stringify(service?.slots.map(({ lagMs }) => lagMs))} ms`,
    );
    const missedMs = bystander.missedMs(fromNs, process.hrtime.bigint());
    const hurt = system.service("flooded").lines.filter((line) => /"event":"(lease-lost|slot-gone|slot-stuck)"/.test(line));
    console.log(`the bystander missed ${missedMs} ms; ${hurt.length} hurt`);
    if (missedMs <= STILL_MS) {
      expect((await system.get(neighbour.id)).attempts).toBe(1);
      expect(hurt).toEqual([]);
    }
    for (const name of floods) expect((await system.call("DELETE", `/api/v1/observers/${name}`)).status).toBe(202);
    await system.untilStatus(floods, "Deleted");
  });
});
