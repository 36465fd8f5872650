import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gapsMs } from "../support/acts/gaps.ts";
import { eventually } from "../support/eventually.ts";
import { inTurn } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const TWICE = { maxAttempts: 2, delaysMs: [100], resetAfterMs: 600_000 };

/** What has blocked its slot for so long is ended with it. */
const STUCK_MS = 1_000;
const STOP_TIMEOUT_MS = 2_000;
/** For the way there and back on a machine that does other things, and for asking every so often. */
const SLACK_MS = 10_000;

const BLOCKED = /^HandlerBlockedError: the handler has blocked the event loop/;

/** Poison, and by which words its author learns what it did. */
const NAMED: [string, object, RegExp][] = [
  ["a busy loop", { how: "busy-loop" }, BLOCKED],
  ["a loop far down a stack that has no limit", { how: "deep-loop" }, BLOCKED],
  ["endless microtasks", { how: "microtasks" }, BLOCKED],
  ["a catastrophic regular expression", { how: "regex" }, BLOCKED],
  ["process.exit", { how: "exit" }, /^ProcessGuardError: process\.exit\(3\) would end/],
  ["process.abort", { how: "abort" }, /^ProcessGuardError: process\.abort/],
  ["process.kill of itself", { how: "segv" }, /^ProcessGuardError: process\.kill\(\d+, SIGSEGV\)/],
  ["a rejection in a timer", { how: "rejection" }, /^Error: nobody caught this/],
  ["an error beside a library that ends the process of it", { how: "throw-shimmed" }, /^Error: thrown beside a shim/],
  ["a stack overflow", { how: "stack-overflow" }, /^RangeError: Maximum call stack/],
];

/** Nobody can be named for these at once: they are found when they are alone in a slot that dies. */
const FOUND: [string, object, RegExp][] = [
  ["a blocking system call", { how: "exec-sync" }, /^SlotEndedError: .*SIGKILL/],
  ["a segmentation fault", { how: "segv-from-outside" }, /^SlotEndedError: .*SIGSEGV/],
  ["a leak in the heap", { how: "heap" }, /^(SlotEndedError|HandlerBlockedError)/],
  [
    "all descriptors that its process may have",
    { how: "descriptors" },
    /: the handler is alone in its slot: .* descriptors open/,
  ],
  ["junk in its slot's pipe", { how: "junk-on-3" }, /^SlotEndedError: .*SlotWireError: .* what came is no JSON/],
  ["its slot's pipe, closed", { how: "close-3" }, /^SlotEndedError/],
  ["an error that is nobody's, each time", { how: "finalizer" }, /^SlotEndedError: .* thrown by a finalizer/],
];

describe("an observer that harms its process", () => {
  let system: System;
  let neighbours: string[];

  beforeAll(async () => {
    system = await freshSystem({
      env: {
        SLOTS: "2",
        STUCK_MS: String(STUCK_MS),
        STOP_TIMEOUT_MS: String(STOP_TIMEOUT_MS),
        SLOT_NODE_OPTIONS: "--max-old-space-size=128",
      },
    });
    await system.startManager();
    await system.startService("a", { workers: 30, env: { OBSERVERS_DIR: "test/fixtures/poison" } });
    neighbours = (await system.createMany("neighbour", 10)).map(({ id }) => id);
  }, 240_000);
  afterAll(() => system.close());

  const lines = (event: string) => system.service("a").lines.filter((line) => line.includes(`"event":"${event}"`));

  async function failsForGood(params: object): Promise<string> {
    const { body } = await system.call<{ id: string }>("POST", "/api/v1/observers", {
      name: `poison-${Math.random()}`,
      type: "poison",
      params,
      retry: TWICE,
    });
    await system.untilStatus([body.id], "Failed", 40_000);
    const { lastError } = await system.get(body.id);
    return `${lastError?.name}: ${lastError?.message}`;
  }

  it.each(inTurn(NAMED))("%s fails its own attempts, by its name", async (_what, params, words) => {
    expect(await failsForGood(params)).toMatch(words);
  });

  it.each(inTurn(FOUND))("%s is found by splitting", async (_what, params, words) => {
    expect(await failsForGood(params)).toMatch(words);
  });

  it.each(inTurn(["logs", "prints", "emits"]))(
    "floods by %s: its neighbours go on, and it stops when it is told to",
    async (how) => {
      const { body } = await system.call<{ id: string }>("POST", "/api/v1/observers", {
        name: `flood-${how}`,
        type: "poison",
        params: { how, afterMs: 0 },
      });
      await system.untilStatus([body.id], "Processing");
      const before = system.acts().length;
      await eventually(() => expect(system.acts().length).toBeGreaterThan(before + 500), { timeoutMs: 10_000 });
      await deleted(body.id);
    },
  );

  it.each(inTurn(["busy-loop", "exec-sync", "microtasks", "ignore-abort", "segv-from-outside"]))(
    "that does %s is Deleted in STOP_TIMEOUT_MS and a second, with force at once, and does nothing afterwards",
    async (how) => {
      const endless = { maxAttempts: "unlimited", delaysMs: [100], resetAfterMs: 600_000 };
      const create = async (name: string) => {
        const { body } = await system.call<{ id: string }>("POST", "/api/v1/observers", {
          name,
          type: "poison",
          params: { how, afterMs: 0 },
          retry: endless,
        });
        await eventually(async () => expect((await system.get(body.id)).status).not.toBe("Created"));
        return body.id;
      };
      const [stopped, forced] = await Promise.all([create(`stopped-${how}`), create(`forced-${how}`)]);
      expect((await system.call("DELETE", `/api/v1/observers/${forced}`)).status).toBe(202);
      const forcedMs = performance.now();
      const { status, body } = await system.call<object>("DELETE", `/api/v1/observers/${forced}?force=true`);
      // One that dies all the time may be over before.
      const { code } = { code: undefined, ...body };
      expect({ status, body }).toMatchObject(
        code === "already-deleted" ? { status: 409 } : { status: 202, body: { status: "Deleted" } },
      );
      console.log(`${how}: deleted by force after ${Math.round(performance.now() - forcedMs)} ms`);
      await deleted(stopped);
      // Neither has a message or a handler any more.
      await eventually(async () =>
        expect(await system.management.queue("unacked.work.default")).toMatchObject({
          ready: 0,
          unacked: neighbours.length,
        }),
      );
    },
  );

  async function deleted(id: string): Promise<void> {
    const askedMs = performance.now();
    expect((await system.call("DELETE", `/api/v1/observers/${id}`)).status).toBe(202);
    await system.untilStatus([id], "Deleted");
    const tookMs = performance.now() - askedMs;
    console.log(`Deleted after ${Math.round(tookMs)} ms`);
    expect(tookMs).toBeLessThan(STOP_TIMEOUT_MS + 1_000 + SLACK_MS);
  }

  it("that ignores its stop is ended with its slot, in time", async () => {
    const { body } = await system.call<{ id: string }>("POST", "/api/v1/observers", {
      name: "deaf",
      type: "poison",
      params: { how: "ignore-abort", afterMs: 0 },
    });
    await system.untilStatus([body.id], "Processing");
    // It may have had to wait for a slot.
    const runs = (line: string) => line.includes(body.id) && line.includes("the poison runs");
    await eventually(() => expect(system.service("a").lines.some(runs)).toBe(true));
    const askedMs = performance.now();
    expect((await system.call("DELETE", `/api/v1/observers/${body.id}`)).status).toBe(202);
    await system.untilStatus([body.id], "Deleted");
    const tookMs = performance.now() - askedMs;
    expect(tookMs).toBeGreaterThan(2_000); // or it has not ignored anything
    expect(tookMs).toBeLessThan(2_000 + 1_000 + SLACK_MS);
  });

  it("has cost the service nothing: its neighbours run once each, and are without a run for a moment", async () => {
    const goneBefore = lines("slot-gone").length;
    await failsForGood({ how: "exec-sync" });
    expect(lines("slot-gone").length).toBeGreaterThan(goneBefore);
    await eventually(() => expect(system.actingByPid().get(system.service("a").pid)).toEqual(new Set(neighbours)), {
      timeoutMs: 10_000,
    });
    expect(system.service("a").lines.filter((line) => line.includes("lease-lost"))).toEqual([]);
    const gaps = [...gapsMs(system.acts()).values()].flat();
    console.log(
      `slots: ${lines("slot-gone").length} died; neighbours without a run ${gaps.length} times, longest ${Math.round(Math.max(...gaps))} ms`,
    );
    // They ran in that slot, or in another that died before.
    expect(gaps.length).toBeGreaterThan(0);
    expect(Math.max(...gaps)).toBeLessThan(STUCK_MS + SLACK_MS);
    await system.check();
  });
});
