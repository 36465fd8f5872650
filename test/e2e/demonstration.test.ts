import type { FlowPage } from "@unacked/contracts";
import { expect, it } from "vitest";
import { createDemonstration, createDemonstrationFlow } from "../../scripts/start/demonstration.mjs";
import { eventually } from "../support/eventually.ts";
import { freshSystem } from "../support/system/system.ts";

it("the demonstration of npm start does not wait for a type that no service has: it says so at once, and once", async () => {
  const system = await freshSystem();
  try {
    await system.startManager();
    await system.startService("service-1"); // whose observers are those of the tests
    const beganMs = performance.now();
    const complaints = await createDemonstration(system.url, "ws://127.0.0.1:1", 20);
    expect(complaints).toEqual([expect.stringContaining('knows the type "price-watch"')]);
    expect(performance.now() - beganMs).toBeLessThan(20_000);
  } finally {
    await system.close();
  }
});

it("takes no more workers than there are but one, which is left to what is tried beside it", async () => {
  const system = await freshSystem();
  try {
    await system.startManager();
    await system.startService("service-1", { workers: 2, env: { OBSERVERS_DIR: "observers" } });
    const beganMs = performance.now();
    const complaints = await createDemonstration(system.url, "ws://127.0.0.1:1", 2);
    expect(complaints).toEqual(["1 of 5 prices are watched: of 2 workers in all, one is left to you."]);
    expect(performance.now() - beganMs).toBeLessThan(20_000);
    const tried = { name: "tried", type: "ticker", params: { everyMs: 1_000 } };
    expect(await system.call("POST", "/api/v1/observers", tried)).toMatchObject({ status: 201 });
  } finally {
    await system.close();
  }
});

it("has a flow, which is created once, and over in a moment, and a schedule", async () => {
  const system = await freshSystem();
  try {
    await system.startManager();
    await system.startService("demo-tasks", { env: { OBSERVERS_DIR: "demo/dist/tasks", POOL: "demo", TASK_WORKERS: "2" } });
    for (let start = 0; start < 2; start += 1) expect(await createDemonstrationFlow(system.url)).toEqual([]);
    await eventually(async () => {
      const { body } = await system.call<FlowPage>("GET", "/api/v1/flows?name=demo-words");
      expect(body.items).toMatchObject([{ status: "Completed", tasks: { total: 4, completed: 4 } }]);
      const { id } = body.items[0] ?? expect.fail();
      const tasks = await system.call<{ items: { ref: string; output: unknown }[] }>(
        "GET",
        `/api/v1/flows/${id}/tasks?outputs=true`,
      );
      expect(tasks.body.items.at(-1)).toMatchObject({ ref: "sum", output: { words: 18, texts: 3 } });
    });
    const schedule = await system.call("GET", "/api/v1/schedules/demo-each-minute");
    expect(schedule).toMatchObject({ status: 200, body: { status: "Active", version: 1, task: { type: "demo-words" } } });
  } finally {
    await system.close();
  }
});
