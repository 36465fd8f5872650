import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gapsMs } from "../support/acts/gaps.ts";
import { type OutputTap, tapOutput } from "../support/acts/output-tap.ts";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { slotsOf } from "../support/processes/process-tree.ts";
import { shortOrFull } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const OBSERVERS = shortOrFull(200, 1_000);
const ROUNDS = shortOrFull(8, 60);

describe.runIf(isTurnOf(1))(`kill -9 of a slot, each in turn, every second, ${ROUNDS} times`, { timeout: 480_000 }, () => {
  let system: System;
  let output: OutputTap<unknown>;
  let ids: string[];

  beforeAll(async () => {
    system = await freshSystem({ env: { SLOTS: "2", LOG_LEVEL: "debug" } });
    await system.startManager();
    await system.startService("a", { workers: OBSERVERS });
    output = await tapOutput(system.env.AMQP_URL ?? "", "#");
    ids = await system.createCrowd("many", OBSERVERS, { everyMs: 200, emitEveryMs: 400 });
    await eventually(() => expect(system.actingByPid().get(system.service("a").pid)?.size).toBe(OBSERVERS));
  }, 240_000);
  afterAll(async () => {
    await output?.close();
    await system?.close();
  });

  it("costs no redelivery, loses nothing, runs nothing twice, and nothing of a dead slot comes after its successor's", async () => {
    const { pid } = system.service("a");
    const killed: number[] = [];
    for (let i = 0; i < ROUNDS; i += 1) {
      const oldest = await eventually(
        () => slotsOf(pid).find((slot) => !killed.includes(slot)) ?? expect.fail("all slots have been killed"),
      );
      process.kill(oldest, "SIGKILL");
      killed.push(oldest);
      await eventually(() => expect(slotsOf(pid)).not.toContain(oldest));
      await new Promise((resolve) => setTimeout(resolve, 1_000)); // the pace is the attack's
    }
    await eventually(
      () => {
        const acting = system.actingByPid().get(pid);
        expect(ids.filter((id) => acting?.has(id) !== true)).toEqual([]);
      },
      { timeoutMs: 20_000 },
    );
    const { url } = await system.service("a").waitForEvent("listening");
    const figures = await scrape(String(url));
    expect(figures.value("unacked_service_deliveries_total", { redelivered: "true" }) ?? 0).toBe(0);
    expect(await system.management.queue("unacked.work.default")).toMatchObject({ ready: 0, unacked: OBSERVERS });
    expect(stragglers(output.messages)).toEqual([]);
    await system.check();
    const gaps = [...gapsMs(system.acts()).values()].flat().toSorted((a, b) => a - b);
    const at = (part: number) => Math.round(gaps[Math.floor(gaps.length * part)] ?? 0);
    console.log(
      `${ROUNDS} slots killed under ${OBSERVERS} observers: ${gaps.length} begun again, without a run p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (acts are 200 ms apart); redelivered 0`,
    );
    expect(gaps.length).toBeGreaterThan(OBSERVERS / 2);
  });

  it("as it loads: the next comes after a pause that is told, with why", async () => {
    // Nothing runs in it, so that nobody is suspected of anything: two slots, and the spare.
    const { pid } = await system.startService("b", { env: { POOL: "other" } });
    const linesOf = (event: string) =>
      system
        .service("b")
        .lines.filter((line) => line.includes(`"event":"${event}"`))
        .map((line) => JSON.parse(line) as { slot: number; [field: string]: unknown });
    const allLoaded = () => {
      const found = slotsOf(pid);
      expect(found).toHaveLength(3);
      expect(linesOf("slot-loaded").map(({ slot }) => slot)).toEqual(expect.arrayContaining(found));
      return found;
    };
    let known = await eventually(allLoaded, { timeoutMs: 30_000 });
    const killed: number[] = [];
    const told = () => linesOf("slot-ended-unloaded").find(({ slot }) => killed.includes(slot));
    // On a busy machine one may have loaded by the time it is found.
    for (let tries = 0; tries < 10 && told() === undefined; tries += 1) {
      process.kill(known[0] as number, "SIGKILL");
      const young = await eventually(() => {
        const found = slotsOf(pid).find((slot) => !known.includes(slot));
        expect(found).toBeDefined();
        return found as number;
      });
      process.kill(young, "SIGKILL");
      killed.push(young);
      const loadedAnew = () => {
        const found = allLoaded();
        expect(found).not.toContain(young);
        return found;
      };
      known = await eventually(loadedAnew, { timeoutMs: 30_000 });
    }
    expect(told()).toMatchObject({ nextInMs: 100, why: "SIGKILL" });
  });
});

/** Values of a run that came after the first value of the observer's next one. */
function stragglers(messages: readonly { observerId: string; runId: string }[]): string[] {
  const over = new Set<string>();
  const current = new Map<string, string>();
  return messages.flatMap(({ observerId, runId }) => {
    const before = current.get(observerId);
    if (before !== undefined && before !== runId) over.add(before);
    current.set(observerId, runId);
    return over.has(runId) ? [runId] : [];
  });
}
