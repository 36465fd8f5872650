import { readFileSync } from "node:fs";
import { MAX_BULK } from "@unacked/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshSystem, type System } from "../support/system/system.ts";

/** What a manager may have in k8s/base. */
const LIMIT_MIB = 512;
/** As Node.js sets it by itself in a container of that size: it does not know of one here. */
const HEAP = { NODE_OPTIONS: "--max-old-space-size=256" };
const MIB = 1_048_576;
const BATCH_MIB = 30;
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();

let system: System;
beforeAll(async () => {
  system = await freshSystem();
  await system.startManager({ env: HEAP });
  await system.startService("service-1", { workers: 1 });
});
afterAll(() => system.close());

/** Observers that need no worker today. */
function batchOf(name: string): object {
  const params = { mark: "x".repeat((BATCH_MIB * MIB) / MAX_BULK) };
  const observers = Array.from({ length: MAX_BULK }, (_, i) => ({
    name: `${name}-${i}`,
    type: "stamp",
    startAt: TOMORROW,
    params,
  }));
  return { observers };
}

const peakMib = () => {
  const status = readFileSync(`/proc/${system.managers[0]?.pid}/status`, "utf8");
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024);
};

test(`Four batches of ${BATCH_MIB} MiB at once are all answered by a manager of the usual size, which lives on`, async () => {
  const bodies = ["a", "b", "c", "d"].map(batchOf);
  const answers = await Promise.all(bodies.map((body) => system.call("POST", "/api/v1/observers/batch", body)));
  const statuses = answers.map(({ status }) => status);
  const mib = peakMib();
  console.info(`four batches of ${BATCH_MIB} MiB at once: ${statuses.join(", ")}; the manager had ${mib} MiB at its peak`);
  expect(mib).toBeLessThan(LIMIT_MIB);
  for (const { status, headers } of answers)
    if (status !== 200) expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
  expect(statuses).toContain(200);
  await system.untilReady();
});
