import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import type { CheckpointView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { processIdentity } from "../../scripts/processes/identity.mjs";
import { type OutputTap, tapOutput } from "../support/acts/output-tap.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, freshVhost } from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) console.warn("skipped: there is no python3 here");

describe.skipIf(!hasPython)("an observer in Python", () => {
  let system: System;
  let tap: OutputTap<{ n: number }>;

  beforeAll(async () => {
    const [vhost, { databaseUrl }] = await Promise.all([freshVhost(), freshDatabase()]);
    const env = { CHECKPOINT_EVERY_MS: "50", ALLOW_PROCESS_OBSERVERS: "true", PROCESS_COMMANDS: "python3" };
    system = new System({ amqpUrl: vhost.amqpUrl, databaseUrl, management: vhost.management, env });
    await system.startManager();
    await Promise.all(["a", "b"].map((name) => system.startService(name, { env: { OBSERVERS_DIR: "observers" } })));
    tap = await tapOutput(vhost.amqpUrl, "process.*");
  }, 240_000);
  afterAll(async () => {
    await tap?.close();
    await system?.close();
  });

  const worker = resolve("test/fixtures/workers/counter.py");
  const workers = (): number[] => {
    const { stdout } = spawnSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" });
    return stdout.split("\n").flatMap((line) => (line.endsWith(` ${worker}`) ? [Number.parseInt(line, 10)] : []));
  };
  const reached = () => tap.messages.at(-1)?.event.n ?? 0;
  const untilBeyond = (n: number) =>
    eventually(() => expect(reached()).toBeGreaterThan(n), { timeoutMs: 60_000, what: `that it counts beyond ${n}` });
  const saved = async () => {
    const { body } = await system.call<CheckpointView>("GET", "/api/v1/observers/counter/checkpoint");
    return (body.value as { json: number } | undefined)?.json ?? 0;
  };

  it("goes on from its checkpoint on another service when its own is killed, misses no number, and ends when it is told", async () => {
    const params = { command: "python3", args: [worker], protocol: "json-lines", workerParams: { everyMs: 20 } };
    const created = await eventually(
      async () => {
        const answer = await system.call<{ id: string }>("POST", "/api/v1/observers", {
          name: "counter",
          type: "process",
          params,
        });
        expect(answer.status, JSON.stringify(answer.body)).toBe(201);
        return answer.body;
      },
      { timeoutMs: 40_000, what: "that a type with a checkpoint is taken" },
    );
    await system.untilStatus(["counter"], "Processing", 60_000);
    await eventually(async () => expect(await saved()).toBeGreaterThan(10), { timeoutMs: 60_000, what: "a checkpoint" });

    const first = await system.get("counter");
    const before = workers();
    const savedBefore = await saved();
    await system.service(first.service?.name ?? "").kill("SIGKILL");
    await eventually(
      async () => {
        const { status, runNumber } = await system.get("counter");
        expect([status, runNumber > first.runNumber]).toEqual(["Processing", true]);
      },
      { timeoutMs: 60_000, what: "its next run" },
    );
    await untilBeyond(reached() + 10);
    expect(before.filter((pid) => processIdentity(pid) !== null)).toEqual([]);
    const { currentRunId } = await system.get("counter");
    const isOfNow = ({ runId }: { runId: string }) => runId === currentRunId;
    const begunAt = tap.messages.find(isOfNow)?.event.n ?? 0;
    const reachedBefore = Math.max(...tap.messages.filter((one) => !isOfNow(one)).map(({ event }) => event.n));
    expect(begunAt).toBeGreaterThan(savedBefore);
    expect(begunAt).toBeLessThanOrEqual(reachedBefore + 1);
    const numbers = new Set(tap.messages.map(({ event }) => event.n));
    expect(numbers.size).toBe(Math.max(...numbers));

    const second = workers();
    expect(second).toHaveLength(1);
    await system.call("DELETE", "/api/v1/observers/counter");
    await system.untilStatus([created.id], "Deleted", 60_000);
    expect(second.filter((pid) => processIdentity(pid) !== null)).toEqual([]);
    await eventually(() => {
      const all = [...system.services.values()].flatMap(({ lines }) => lines);
      expect(all.filter((line) => line.includes(`"stopped at ${reached()}"`))).toHaveLength(1);
    });
  });
});
