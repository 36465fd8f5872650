import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  EXCHANGES,
  MAX_TASK_OUTPUT_BYTES,
  newRunId,
  TASK_STATE_KEY,
  TASK_STATE_QUEUE,
  type TaskEvent,
} from "@unacked/contracts";
import { connect } from "amqplib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAX_BATCH_BYTES } from "../../services/observer-service/src/keeper/outbox/batch-bounds.ts";
import { eventually } from "../support/eventually.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/** What a manager may have in k8s/base. */
const LIMIT_MIB = 512;
/** As Node.js sets it by itself in a container of that size: it does not know of one here. */
const HEAP = { NODE_OPTIONS: "--max-old-space-size=256" };
const BACKLOG_MIB = 600;
const MIB = 1_048_576;
const LONG = "x".repeat(MAX_TASK_OUTPUT_BYTES - 2);

let system: System;
beforeAll(async () => {
  system = await freshSystem();
});
afterAll(() => system.close());

const ended = (): TaskEvent => ({
  kind: "TaskEnded",
  taskId: randomUUID() as never,
  sendId: randomUUID() as never,
  runId: newRunId(),
  at: Date.now(),
  startedAt: Date.now(),
  outcome: "completed",
  output: JSON.stringify(LONG),
});

/** As large as a service makes them, of one that has told nothing before. */
async function leaveBacklog(): Promise<void> {
  const connection = await connect(system.env.AMQP_URL ?? "");
  const channel = await connection.createConfirmChannel();
  const header = { kind: "TaskEventBatch", serviceId: randomUUID(), serviceName: "away", pool: "default", generation: 1 };
  const perMessage = Math.floor(MAX_BATCH_BYTES / LONG.length);
  const count = Math.ceil((BACKLOG_MIB * MIB) / (perMessage * LONG.length));
  for (let seq = 1; seq <= count; seq += 1) {
    const body = JSON.stringify({ ...header, seq, events: Array.from({ length: perMessage }, ended) });
    channel.publish(EXCHANGES.events.name, TASK_STATE_KEY, Buffer.from(body), { persistent: true });
    if (seq % 50 === 0) await channel.waitForConfirms();
  }
  await channel.waitForConfirms();
  await connection.close();
}

const peakMib = () => {
  const status = readFileSync(`/proc/${system.managers.at(-1)?.pid}/status`, "utf8");
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024);
};

test(`${BACKLOG_MIB} MiB of results that wait are read by a manager that may have ${LIMIT_MIB}`, async () => {
  const before = await system.startManager();
  await before.kill("SIGKILL");
  await leaveBacklog();
  const waits = async () => {
    const { ready, unacked } = await system.management.queue(TASK_STATE_QUEUE);
    return ready + unacked;
  };
  // The broker counts each five seconds.
  await eventually(async () => expect(await waits()).toBeGreaterThan(100), { timeoutMs: 20_000, what: "a backlog" });
  const manager = await system.startManager({ untilReady: false, env: HEAP });
  await eventually(
    async () => {
      expect(manager.exit()).toBeNull();
      expect(await waits()).toBe(0);
    },
    { timeoutMs: 180_000, what: "that all is read" },
  );
  const mib = peakMib();
  console.info(`${BACKLOG_MIB} MiB waited; the manager had ${mib} MiB at its peak`);
  expect(mib).toBeLessThan(LIMIT_MIB);
});
