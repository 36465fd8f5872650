import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes.ts";
import { freshSystem, type System } from "../support/system.ts";
import type { TcpProxy } from "../support/tcp-proxy.ts";

const RESETS = 50;

describe("a wire that is reset during set-up (fault 15)", () => {
  let system: System;
  let wire: TcpProxy;
  let processes: RunningProcess[];
  let bytesOfSetUp: number;

  beforeAll(async () => {
    system = await freshSystem();
    wire = await system.wire();
    const manager = await system.startManager({ env: { AMQP_URL: wire.through(system.env["AMQP_URL"] as string) } });
    const service = await system.startService("service-1", { wire });
    processes = [manager, service];
    bytesOfSetUp = wire.passedBytes / wire.acceptedConnections;
  });
  afterAll(() => system.close());

  it(`${RESETS} times, at every stage, of the manager's and the service's connections: both recover, every observer runs`, async () => {
    const before = await system.createMany("observer", 5);
    wire.resetAfterBytes(1);
    wire.reset();
    for (let reset = 1; reset <= RESETS; reset += 1) {
      const accepted = wire.acceptedConnections;
      wire.resetAfterBytes(Math.ceil((reset / RESETS) * bytesOfSetUp));
      await eventually(() => expect(wire.acceptedConnections).toBeGreaterThan(accepted), {
        what: `connection attempt ${reset} after a reset`,
      });
    }
    const resets = wire.acceptedConnections;
    await wire.heal();
    wire.reset();
    const healedMs = performance.now();
    await system.untilReady();
    await eventually(
      async () => {
        const after = await system.observers(before.map((one) => one.id));
        expect(after.map((one) => [one.status, one.epoch > 1])).toEqual(after.map(() => ["Processing", true]));
      },
      { timeoutMs: 20_000, what: "all Processing again" },
    );
    console.log(
      `${resets} connections of up to ${Math.round(bytesOfSetUp)} bytes; all well ${Math.round(performance.now() - healedMs)} ms after`,
    );
    expect(processes.map((each) => each.exit())).toEqual([null, null]);
    await system.remove("observer-0");
    expect((await system.create("afterwards")).status).toBe(201);
    await system.untilStatus(["afterwards"], "Processing");
    await system.check({ maxOverlapMs: 0 });
    system.reportOverlap("reset during set-up", before);
  }, 90_000);
});
