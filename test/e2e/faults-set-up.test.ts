import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type TcpProxy, tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshDatabase } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const RESETS = 50;

describe.runIf(isTurnOf(0))("a wire that is reset during set-up (fault 15)", () => {
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
  }, 240_000);
});

/** Each costs a second: so long a manager waits before it tries again. */
const DATABASE_RESETS = 12;

it.runIf(isTurnOf(2))(
  `a manager whose connection to the database is reset ${DATABASE_RESETS} times while it makes its tables goes on until they are there`,
  async () => {
    const system = await freshSystem();
    const [{ databaseUrl }, measuredDatabase] = [await freshDatabase(), await freshDatabase()];
    const [wire, measured] = [await tcpProxy(databaseUrl), await tcpProxy(measuredDatabase.databaseUrl)];
    onTestFinished(async () => {
      await system.close();
      await Promise.all([wire.close(), measured.close()]);
    });
    const over = (through: TcpProxy, url: string) => ({
      env: { DATABASE_URL: through.through(url) },
      untilReady: false,
      speakTo: through === wire,
    });
    const first = await system.startManager(over(measured, measuredDatabase.databaseUrl));
    await first.waitForEvent("books-open");
    const bytesOfTables = measured.passedBytes / 2; // the other half is of what begins once they are there
    await first.kill();

    wire.resetAfterBytes(1);
    const manager = await system.startManager(over(wire, databaseUrl));
    for (let reset = 1; reset <= DATABASE_RESETS; reset += 1) {
      const accepted = wire.acceptedConnections;
      wire.resetAfterBytes(Math.ceil((reset / DATABASE_RESETS) * bytesOfTables));
      await eventually(() => expect([wire.acceptedConnections > accepted, manager.exit()]).toEqual([true, null]), {
        what: `the connection after reset ${reset}`,
      });
    }
    expect(manager.lines.filter((line) => line.includes("books-open"))).toEqual([]); // or nothing was tried
    // By TypeORM's own names it is known what passes: a bundle must not change them.
    const names = manager.lines.flatMap((line) => /"error":"(\w*QueryFailed\w*)"/.exec(line)?.[1] ?? []);
    expect(new Set(names)).toEqual(new Set(["QueryFailedError"]));
    await wire.heal();
    await system.untilReady();
    expect(manager.exit()).toBeNull();
  },
  240_000,
);
