import { randomUUID } from "node:crypto";
import type { ErrorEntry } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { runStatement } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

describe("an event of a kind that the manager does not know", () => {
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
  });
  afterEach(() => system.close());

  const errors = async () => (await system.call<{ items: ErrorEntry[] }>("GET", "/api/v1/errors?limit=100")).body.items;
  const untilLeftOut = (count: number) =>
    eventually(async () => {
      const found = (await errors()).filter(({ detail }) => detail.startsWith("an event was left out, and is kept"));
      expect(found).toHaveLength(count);
      return found;
    });

  /** As a service nobody has met would send it. */
  const say = (...events: unknown[]) =>
    system.management.publish({
      exchange: "unacked.events",
      routingKey: "state",
      properties: { delivery_mode: 2 },
      body: JSON.stringify({
        kind: "EventBatch",
        serviceId: randomUUID(),
        serviceName: "of-a-later-version",
        pool: "elsewhere",
        workerCount: 1,
        generation: 1,
        seq: 1,
        events,
      }),
    });
  const runOf = (observerId: string) => ({ observerId, runId: randomUUID(), messageId: randomUUID(), revision: 1, at: 1 });
  const pausedIn = (observerId: string) => ({ kind: "RunPaused", ...runOf(observerId) });
  const waiting = async (name: string) => (await system.create(name, {}, { whenFull: "queue", pool: "empty" })).body.id;

  it.runIf(isTurnOf(2))("costs its batch nothing but itself: the others apply, and it stands among the errors", async () => {
    const [left, right, unknown] = [await waiting("left"), await waiting("right"), await waiting("unknown")];
    const completed = (id: string) => ({ kind: "RunCompleted", ...runOf(id) });
    await say(completed(left), pausedIn(unknown), completed(right));
    await system.untilStatus([left, right], "Completed");
    const [error] = await untilLeftOut(1);
    expect(error).toMatchObject({ reason: "unreadable", queue: "unacked.state", observerId: unknown });
    expect(error?.detail).toContain("/events/1/kind");
    expect(JSON.parse(error?.body ?? "")).toMatchObject({ seq: 1, events: [{ kind: "RunPaused", observerId: unknown }] });
  });

  it.runIf(isTurnOf(1))("is applied, and its error goes, as soon as a manager knows it", async () => {
    const id = await waiting("to-be-completed");
    await say(pausedIn(id));
    await untilLeftOut(1);
    expect((await system.get(id)).status).toBe("Created");
    // What a later version would do: know the kind. Here the kind becomes one that this version knows.
    await system.managers[0]?.kill("SIGTERM");
    await runStatement(
      system.env.DATABASE_URL as string,
      `UPDATE unapplied_events SET batch = replace(batch, 'RunPaused', 'RunCompleted')`,
    );
    const next = await system.startManager();
    await system.untilStatus([id], "Completed");
    await next.waitForEvent("late-events");
    expect(await errors()).toEqual([]);
  });

  it.runIf(isTurnOf(0))(
    "keeps its observer from being repaired, for it may be its end, until its error is removed",
    async () => {
      await system.startService("service-1", { workers: 1 });
      await system.createMany("running", 1);
      const queue = async (name: string) => (await system.create(name, {}, { whenFull: "queue" })).body.id;
      const [lost, ended] = [await queue("lost"), await queue("ended")];
      await system.untilQueued(2);
      await say(pausedIn(ended));
      const [error] = await untilLeftOut(1);
      await system.management.purge("unacked.work.default");
      const untilSentAgain = (id: string) =>
        eventually(async () => expect((await system.get(id)).revision).toBeGreaterThan(1), {
          timeoutMs: 20_000,
        });
      await untilSentAgain(lost);
      expect((await system.get(ended)).revision).toBe(1);
      expect((await system.call("DELETE", `/api/v1/errors/${error?.id}`)).status).toBe(204);
      await system.untilQueued(1);
      await system.management.purge("unacked.work.default");
      // It is looked at again, with another service there.
      await system.startService("service-2");
      await untilSentAgain(ended);
    },
  );
});
