import { join } from "node:path";
import type { ErrorPage, ServiceView, SlotDeathView } from "@unacked/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";

const ENV = { OBSERVERS_DIR: join(ROOT, compiled("blocking-tasks")), TASK_WORKERS: "2", SLOTS: "1", STUCK_MS: "1000" };
/** A service's sign of life comes every 5 s. */
const SEEN = { timeoutMs: 20_000 };

let system: System;
let tasks: Tasks;

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("worker", { env: ENV });
  tasks = new Tasks(system);
});
afterAll(() => system.close());

const service = async (): Promise<ServiceView> => {
  const found = (await system.listServices()).find(({ name }) => name === "worker");
  return found ?? expect.fail("the service is not listed");
};
const unacked = (...args: string[]) => runCli(args, { env: { UNACKED_URL: system.url }, cwd: "." });
const untilBlamed = (type: string): Promise<SlotDeathView> =>
  eventually(async () => {
    const { slotDeaths } = await service();
    return slotDeaths.find(({ culpritTask }) => culpritTask?.type === type) ?? expect.fail(JSON.stringify(slotDeaths));
  }, SEEN);

test.runIf(isTurnOf(1))("a task that blocks its slot is named as who did it, with its type and id", async () => {
  const { id } = await tasks.create({}, { type: "block", params: {} });
  expect(await tasks.get(id, "30s")).toMatchObject({ status: "Failed" });
  const death = await untilBlamed("block");
  expect(death).toMatchObject({ reason: "culprit", culprit: null, culpritTask: { id, type: "block" } });
  expect(death.why).toMatch(new RegExp(`^task block ${id} did it: HandlerBlockedError: `));
  const { code, out } = await unacked("describe", "service", "worker");
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`SIGKILL +1 +task block ${id} did it: HandlerBlockedError: `));
});

test.runIf(isTurnOf(1))("one whose time is up says where it blocked its slot, too", async () => {
  const { id } = await tasks.create({}, { type: "block-timed", params: {} });
  expect(await tasks.get(id, "30s")).toMatchObject({
    status: "Failed",
    lastError: {
      name: "TaskTimeoutError",
      message: expect.stringContaining("HandlerBlockedError"),
      stack: expect.stringContaining("block-timed."),
    },
  });
});

test.runIf(isTurnOf(1))("its service is heard as before: what it tells is current, and a drain of it ends", async () => {
  const { lastSeenAt } = await service();
  await eventually(async () => {
    const { slots, lastSeenAt: seenAt } = await service();
    expect(seenAt > lastSeenAt).toBe(true);
    const pids = slots.map(({ pid }) => pid);
    expect(pids.length).toBeGreaterThan(0);
    for (const { pid } of (await service()).slotDeaths) expect(pids).not.toContain(pid);
  }, SEEN);
  expect((await unacked("drain", "worker", "--wait", "--timeout", "30s")).code).toBe(0);
  const { body } = await system.call<ErrorPage>("GET", "/api/v1/errors");
  expect(body.items.filter(({ reason }) => reason === "unreadable")).toEqual([]);
});
