import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { FLOW_TASKS_DIR, Flows, type Piece } from "../support/system/flows.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { keepLedgerTimes, ledgerTimes, ledgerTimesInWords } from "../support/tasks/ledger-times.ts";

const TASKS = 10_000;

describe.runIf(isTurnOf(2))("ten thousand tasks in one flow", { timeout: 600_000 }, () => {
  let system: System;
  let flows: Flows;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await Promise.all(
      ["worker-1", "worker-2"].map((name) =>
        system.startService(name, { env: { OBSERVERS_DIR: FLOW_TASKS_DIR, TASK_WORKERS: "10" } }),
      ),
    );
    flows = new Flows(system);
  });
  afterAll(() => system.close());

  test("split and gather within the bound of inputs, and no transaction of the ledger is longer for it", async () => {
    const url = system.env.DATABASE_URL ?? "";
    await keepLedgerTimes(url);
    // Beside nothing: as many tasks of the same type.
    const plain = Array.from({ length: TASKS }, () => ({ type: "piece", params: { dir: flows.dir } }));
    await system.call("POST", "/api/v1/tasks/batch", { tasks: plain });
    await eventually(
      async () => {
        const { body } = await system.call<{ total: number }>(
          "GET",
          "/api/v1/tasks?limit=1&status=Scheduled,Ready,Sent,Running",
        );
        expect(body.total).toBe(0);
      },
      { what: "the end of the tasks beside", timeoutMs: 240_000 },
    );
    const idle = await ledgerTimes(url);
    const middle = Array.from({ length: TASKS - 2 }, (_, i) => `m${i}`);
    const pieces: Piece[] = [
      { ref: "first" },
      ...middle.map((ref) => ({ ref, after: ["first"], maxOutputBytes: 104 })),
      { ref: "last", after: middle },
    ];
    const createdMs = performance.now();
    const { id } = await flows.create(pieces);
    const acceptedMs = performance.now();
    await eventually(async () => expect((await flows.get(id)).status).not.toBe("Running"), {
      what: "the end of the flow",
      timeoutMs: 240_000,
    });
    const overMs = performance.now();
    const large = await ledgerTimes(url);
    expect(await flows.get(id)).toMatchObject({ status: "Completed", tasks: { total: TASKS, completed: TASKS } });
    // Each of the middle: its own one and that of the first.
    expect((await flows.tasks(id, true))["last"]?.output).toEqual({ sum: 2 * middle.length + 1 });
    console.log(`the ledger, ${TASKS} single tasks: ${ledgerTimesInWords(idle)}`);
    console.log(`the ledger, ${TASKS} tasks of one flow: ${ledgerTimesInWords(large)}`);
    const [createMs, runMs] = [acceptedMs - createdMs, overMs - acceptedMs].map(Math.round);
    console.log(`created in ${createMs} ms, over ${runMs} ms later`);
    // The two are minutes apart, and a machine may stand still for seconds in one of them: the median is what a flow could change.
    expect(large.p99 - idle.p99).toBeLessThan(2_000);
    expect(large.p50 - idle.p50).toBeLessThan(200);
  });
});
