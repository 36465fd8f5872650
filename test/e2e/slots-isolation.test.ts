import type { ObserverView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { slotsOf } from "../support/processes/process-tree.ts";
import { shortOrFull } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const ONCE = { maxAttempts: 1, delaysMs: [100], resetAfterMs: 600_000 };
const BOXED = shortOrFull(8, 50);
/** Two that all share, the spare, two that are kept for suspects. */
const OTHERS = 5;

describe.runIf(isTurnOf(2))("a type that asks for a process for each of its observers", () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem({ env: { SLOTS: "2", MAX_SLOTS: String(BOXED + OTHERS), STOP_TIMEOUT_MS: "2000" } });
    await system.startManager();
    await system.startService("a", { workers: 100, env: { OBSERVERS_DIR: "test/fixtures/poison" } });
  }, 240_000);
  afterAll(() => system.close());

  const create = async (name: string, growMb = 0, type = "boxed"): Promise<string> => {
    const request = { name, type, params: { growMb }, retry: ONCE };
    const { status, body } = await system.call<ObserverView>("POST", "/api/v1/observers", request);
    expect(status, JSON.stringify(body)).toBe(201);
    return body.id;
  };
  /** The readers of the state queue are looked at a moment after a manager is ready. */
  const createAsking = (name: string) => eventually(() => create(name, 0, "boxed-asking"), { timeoutMs: 40_000 });
  const waiting = () => system.service("a").lines.filter((line) => line.includes('"event":"no-slot"'));

  it("gives them one each; one that takes more than it may fails alone, and is told why", async () => {
    await system.createMany("neighbour", 5);
    const ids = await Promise.all(Array.from({ length: BOXED - 1 }, (_, i) => create(`boxed-${i}`)));
    const tooLarge = await create("too-large", 100);
    await system.untilStatus(ids, "Processing");
    await system.untilStatus([tooLarge], "Failed", 20_000);
    const { lastError } = await system.get(tooLarge);
    expect(lastError).toMatchObject({ name: "MemoryLimitError" });
    const [, limit] = /its slot took \d+ MiB, of (\d+) that it may/.exec(lastError?.message ?? "") ?? [];
    // What it asks for, or what its files took before it ran (some 40 to 60, as V8 has collected) and an eighth of what it asks for.
    expect(Number(limit)).toBeGreaterThanOrEqual(64);
    expect(Number(limit)).toBeLessThan(80);
    for (const id of ids) expect((await system.get(id)).attempts).toBe(1);
    expect(waiting()).toEqual([]);
  });

  it("lets those wait, and says why, for which there is no slot; they begin when there is one", async () => {
    const more = await Promise.all(Array.from({ length: 6 }, (_, i) => create(`late-${i}`)));
    await eventually(() => expect(waiting().length).toBeGreaterThan(0));
    expect(waiting()[0]).toContain(`its type asks for one of its own: there may be ${BOXED + OTHERS} (MAX_SLOTS)`);
    expect(slotsOf(system.service("a").pid).length).toBeLessThanOrEqual(BOXED + OTHERS);
    await eventually(async () => {
      const [waits] = (await system.observers(more)).filter(({ status }) => status === "Retrying");
      expect(waits?.lastError).toMatchObject({ name: "NoSlotError", message: expect.stringContaining("MAX_SLOTS") });
    });
    const asking = await createAsking("asking");
    await eventually(async () => {
      const waits = { status: "Retrying", waitsFor: null, lastError: { name: "NoSlotError" } };
      expect(await system.get(asking)).toMatchObject(waits);
    });
    for (let i = 0; i < BOXED - 1; i += 1)
      expect((await system.call("DELETE", `/api/v1/observers/boxed-${i}`)).status).toBe(202);
    await system.untilStatus([...more, asking], "Processing", 20_000);
    await system.check();
  });
});
