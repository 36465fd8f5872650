import { join } from "node:path";
import { newObserverId, newRunId } from "@unacked/contracts";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { type ServiceOptions, standIn, startObserverService } from "../support/system/observer-service.ts";

async function bornService(options: ServiceOptions = {}) {
  const manager = await standIn();
  const service = startObserverService(manager.amqpUrl, options);
  onTestFinished(async () => {
    await service.kill();
    await manager.close();
  });
  await manager.waitFor("ServiceBorn");
  const [{ serviceId, generation } = { serviceId: "", generation: 0 }] = manager.batches;
  return { manager, service, key: `${serviceId}.${generation}` };
}

describe("what a run says", () => {
  test("is kept in order, lines and emitted values, and given to those who ask after a place", async () => {
    const { manager, key } = await bornService();
    const { observerId } = await manager.start({ params: { sayEveryMs: 30 } });
    const { runId } = await manager.waitFor("RunStarted");
    const first = await eventually(async () => {
      const reply = await manager.readLogs(key, { observerId, runId });
      expect(reply.lastSeq).toBeGreaterThanOrEqual(6);
      return reply;
    });
    expect(first).toMatchObject({ runId, state: "running" });
    expect(first.entries.slice(0, 4)).toMatchObject([
      { seq: 1, level: "info", message: "said", json: '{"times":1}', cut: false },
      { seq: 2, json: '{"times":1}', cut: false },
      { seq: 3, level: "info", message: "said", json: '{"times":2}' },
      { seq: 4, json: '{"times":2}' },
    ]);
    expect(first.entries[1]).not.toHaveProperty("level");
    const next = await manager.readLogs(key, { observerId, runId, afterSeq: 4, limit: 1 });
    expect(next.entries.map(({ seq }) => seq)).toEqual([next.lastSeq]);
    expect((await manager.readLogs(key, { observerId, runId, limit: 0 })).entries).toEqual([]);
  });

  test.runIf(isTurnOf(0))(
    "is had after its end, too: of one that failed, was restarted in place, or was stopped",
    async () => {
      const { manager, key } = await bornService();
      const failing = { throwAfterMs: 100, sayEveryMs: 60_000 };
      const { observerId } = await manager.start({
        params: failing,
        retry: { maxAttempts: 1, delaysMs: [1], resetAfterMs: 1 },
      });
      const { runId } = await manager.waitFor("RunFailed");
      const words = { state: "ended", lastSeq: 2, entries: [{ message: "said" }, { json: '{"times":1}' }] };
      const thrown = { level: "error", message: "the handler failed: Error: thrown on request" };
      const last = { ...thrown, stack: expect.stringMatching(/^at nastyValue /) };
      expect(await manager.readLogs(key, { observerId, runId })).toMatchObject({
        ...words,
        lastSeq: 3,
        entries: [...words.entries, last],
      });

      const other = await manager.start({ params: { sayEveryMs: 60_000 } });
      const { runId: before } = await manager.waitFor("RunStarted", (event) => event.observerId === other.observerId);
      await manager.control({ kind: "RestartRuns", targets: [{ observerId: other.observerId, runId: before }] }, key);
      const { runId: after } = await manager.waitFor(
        "RunStarted",
        (event) => event.observerId === other.observerId && event.runId !== before,
      );
      expect(await manager.readLogs(key, { observerId: other.observerId, runId: before })).toMatchObject(words);
      expect(await manager.readLogs(key, { observerId: other.observerId, runId: after })).toMatchObject({
        state: "running",
      });
    },
  );

  test.runIf(isTurnOf(2))("of the attempts of one run stays together", async () => {
    const { manager, key } = await bornService();
    const file = join(temporaryFolder("stamps"), "stamps.jsonl"); // counts there: the next attempt may begin in another slot
    const params = { file, throwAfterMs: 0, throwTimes: 1, sayEveryMs: 60_000 };
    const { observerId } = await manager.start({ params, retry: { maxAttempts: 2, delaysMs: [1], resetAfterMs: 600_000 } });
    const { runId } = await manager.waitFor("RunStarted", ({ attempt }) => attempt === 2);
    await eventually(async () =>
      expect(await manager.readLogs(key, { observerId, runId })).toMatchObject({ state: "running", lastSeq: 5 }),
    );
  });

  test.runIf(isTurnOf(2))(
    "is what it threw, once, also from where nobody caught it; and that its params do not pass",
    async () => {
      const { manager, key } = await bornService();
      const retry = { maxAttempts: 1, delaysMs: [1], resetAfterMs: 1 };
      const saidBy = async (params: object) => {
        const { observerId } = await manager.start({ params, retry });
        const { runId } = await manager.waitFor("RunFailed", (event) => event.observerId === observerId);
        return (await manager.readLogs(key, { observerId, runId })).entries.map(({ message }) => message);
      };
      expect(await saidBy({ throwAfterMs: 1, throwFrom: "timer" })).toEqual([
        "an error that nobody caught fails this attempt: Error: thrown on request",
      ]);
      expect(await saidBy({ everyMs: "often" })).toEqual([
        expect.stringMatching(/^it was not started: InvalidParams: .*everyMs/),
      ]);
    },
  );

  test.runIf(isTurnOf(0))("is nothing of a run that is not known, and of one that has not said anything", async () => {
    const { manager, key } = await bornService();
    const unknown = { observerId: newObserverId(), runId: newRunId() };
    expect(await manager.readLogs(key, unknown)).toMatchObject({ state: "unknown", lastSeq: 0, entries: [] });
    const { observerId } = await manager.start();
    const { runId } = await manager.waitFor("RunStarted");
    expect(await manager.readLogs(key, { observerId, runId })).toMatchObject({ state: "running", lastSeq: 0, entries: [] });
  });

  test.runIf(isTurnOf(1))("has no lines that the service's own log leaves out", async () => {
    const { manager, key } = await bornService({ env: { LOG_LEVEL: "warn" } });
    const { observerId } = await manager.start({ params: { sayEveryMs: 20 } });
    const { runId } = await manager.waitFor("RunStarted");
    const { entries } = await eventually(async () => {
      const reply = await manager.readLogs(key, { observerId, runId });
      expect(reply.lastSeq).toBeGreaterThan(1);
      return reply;
    });
    expect(entries.filter(({ level }) => level !== undefined)).toEqual([]);
  });
});

test.runIf(isTurnOf(1))("a question whose asker is gone, or that nobody waits for, harms nobody", async () => {
  const { manager, service, key } = await bornService();
  const { observerId } = await manager.start({ params: { sayEveryMs: 20 } });
  const { runId } = await manager.waitFor("RunStarted");
  const nobody = { kind: "ReadLogs", requestId: newRunId(), replyTo: "nobody.1", observerId, runId } as const;
  for (let n = 0; n < 200; n += 1) await manager.control({ ...nobody, afterSeq: 0, limit: 1_000 }, key);
  // Behind so many replies it is dropped: the manager asks again.
  const asked = () => manager.readLogs(key, { observerId, runId }, 2_000);
  await eventually(async () => expect((await asked()).state).toBe("running"), { timeoutMs: 20_000 });
  expect(manager.batches.every(({ generation }) => generation === 1)).toBe(true);
  expect(service.exit()).toBeNull();
});
