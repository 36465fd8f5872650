import { setTimeout as sleep } from "node:timers/promises";
import type { ObserverView } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startBystander } from "../support/processes/bystander.ts";
import { type CrashPoint, diesAt } from "../support/processes/crash-point.ts";
import { proves } from "../support/runs/counts.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import {
  change,
  gapsMs,
  lastMarks,
  marked,
  marksOf,
  quantile,
  runsByMark,
  runsOf,
  untilAsWanted,
  untilItMayChange,
  updateGapsMs,
} from "../support/system/changes.ts";
import { BUSY_MACHINE_MS, freshSystem, KILLED_KEEPER_OVERLAP_MS, type System } from "../support/system/system.ts";

const KILLED = { code: null, signal: "SIGKILL" };
/** By the promise, and what a machine that does much else adds without the bystander. */
const MAX_OVERLAP_MS = KILLED_KEEPER_OVERLAP_MS + (proves("changes") ? 0 : BUSY_MACHINE_MS);
const COUNT = proves("changes") ? 1_000 : 60;
/** A thousand that act often write more than a test can read while they do. */
const EVERY_MS = proves("changes") ? 1_000 : 100;
const CHANGES_EACH = 3;
/** Of each kind, once nobody is killed any more. */
const CALM = proves("changes") ? 50 : 20;
const AT_ONCE = 8;
const KILL_EVERY_MS = 2_000;

let system: System;
beforeEach(async () => {
  system = await freshSystem();
});
afterEach(() => system.close());

/** Half of them are stopped and sent again by a change, half take it as they run. */
const TYPES = ["stamp", "updatable"] as const;

describe("observers that are changed while services are killed", () => {
  it.runIf(isTurnOf(2))(
    "all run as they are wanted in the end, and none runs twice",
    {
      timeout: 900_000,
    },
    async () => {
      await system.startManager();
      const names = ["service-1", "service-2", "service-3"];
      const bystander = await startBystander();
      const sinceNs = process.hrtime.bigint();
      // Any two have room for all.
      const serve = (name: string, untilKnown = true) =>
        system.startService(name, {
          workers: Math.ceil(COUNT * 0.6),
          untilKnown,
          env: { OBSERVERS_DIR: compiled("admitted") },
        });
      for (const name of names) await serve(name);
      await untilItMayChange(system);
      const params = { everyMs: EVERY_MS, mark: "0" };
      const crowds: string[][] = [];
      for (const type of TYPES) crowds.push(await system.createCrowd(`changed-${type}`, COUNT / 2, params, { type }));
      const [restarted, told] = crowds as [string[], string[]];
      // In turns, so that either kind is always among them.
      const ids = restarted.flatMap((id, i) => [id, told[i] as string]);
      const over = new AbortController();
      let kills = 0;
      const killing = (async () => {
        while (!over.signal.aborted) {
          const name = names[kills % names.length] as string;
          await system.service(name).kill("SIGKILL");
          kills += 1;
          await serve(name);
          await sleep(KILL_EVERY_MS, undefined, { signal: over.signal }).catch(() => undefined);
        }
      })();
      const wanted = new Map<string, string>();
      for (let round = 1; round <= CHANGES_EACH; round += 1)
        await inTurns(ids, async (id) => {
          const { status, body } = await change(system, id, {
            params: marked(system, String(round), { everyMs: EVERY_MS }),
          });
          expect([200, 202], JSON.stringify(body)).toContain(status);
          wanted.set(id, String(round));
        });
      over.abort();
      await killing;
      const all = await untilAsWanted(system, ids, 300_000);
      expect(all.map(({ specVersion }) => specVersion)).toEqual(ids.map(() => 1 + CHANGES_EACH));
      await eventually(
        () => {
          const last = lastMarks(system);
          expect(ids.filter((id) => last.get(id) !== wanted.get(id))).toEqual([]);
        },
        { timeoutMs: 30 * EVERY_MS, what: "that each acts by what is wanted" },
      );
      // What the machine stood still is no overlap of ours.
      const maxOverlapMs = MAX_OVERLAP_MS + bystander.missedMs(sinceNs, process.hrtime.bigint());
      await system.check({ timeoutMs: 120_000, freshMs: 30 * EVERY_MS, maxOverlapMs });
      const overlapMs = system.reportOverlap(`${COUNT} changed ${CHANGES_EACH} times, ${kills} services killed`, all);
      const revisionsOf = (group: string[]) => all.filter(({ id }) => group.includes(id)).map(({ revision }) => revision);
      console.log(
        `${COUNT} observers, half of which take changes as they run, ${CHANGES_EACH} changes each, ${kills} services killed: each as wanted; messages each: stopped and sent again p50 ${quantile(revisionsOf(restarted), 0.5)}, told p50 ${quantile(revisionsOf(told), 0.5)}, at most ${Math.max(...all.map(({ revision }) => revision))}; overlap ${overlapMs} ms`,
      );
      // And what is changed once it is calm is back at once, though nobody looked for it; what takes it as it runs was never away.
      const fast = [...restarted.slice(0, CALM), ...told.slice(0, CALM)];
      for (const mark of ["fast", "calm"]) {
        await inTurns(fast, async (id) => void (await change(system, id, { params: marked(system, mark, { everyMs: 5 }) })));
        await untilAsWanted(system, ids);
        await eventually(() => {
          const last = lastMarks(system);
          expect(fast.filter((id) => last.get(id) !== mark)).toEqual([]);
        });
      }
      const figures = (gaps: number[]) =>
        `p50 ${quantile(gaps, 0.5).toFixed(0)} ms, p99 ${quantile(gaps, 0.99).toFixed(0)} ms`;
      const calm = updateGapsMs(system, told.slice(0, CALM), "calm");
      expect(new Set(runsByMark(system, told.slice(0, CALM), ["fast", "calm"]))).toEqual(new Set([1]));
      console.log(
        `${CALM} of each kind changed in the calm after it, between two acts: stopped and sent again ${figures(gapsMs(system, restarted.slice(0, CALM)))}; told, in the same run, so a gap of 0 beyond the turn of 5 ms: ${figures(calm)}`,
      );
      await bystander.end();
    },
  );
});

describe("an observer that is changed as somebody dies", () => {
  /** One observer on the first of two services; the manager dies at that point of its change. */
  async function changeOn(managerEnv: Record<string, string>): Promise<ObserverView> {
    const doomed = await system.startManager({ env: managerEnv });
    await system.startService("service-1");
    await untilItMayChange(system);
    const [one] = (await system.createMany("one", 1, { mark: "a" })) as [ObserverView];
    await system.startService("service-2");
    const asked = await change(system, one.id, { params: marked(system, "b") }).catch(() => undefined);
    if (asked !== undefined) expect(asked.status, JSON.stringify(asked.body)).toBe(202);
    expect(await doomed.exited).toEqual(KILLED);
    await system.startManager();
    return one;
  }

  async function expectChanged({ id }: ObserverView): Promise<void> {
    await untilAsWanted(system, [id]);
    await system.check();
    expect([marksOf(system, id)[0], marksOf(system, id).at(-1)]).toEqual(["a", "b"]);
    expect((await runsOf(system, id)).map(({ state }) => state).filter((state) => state !== "Ended")).toEqual(["Current"]);
    expect(system.reportOverlap("changed as somebody died", [await system.get(id)])).toBe(0);
  }

  const points: [string, CrashPoint, number, string][] = [
    ["before its stop is published", "publish unacked.control", 0, ""],
    ["after its stop is published, and before that is confirmed", "confirm unacked.control", 0, ""],
    ["after the commit of its end, and before the ack of that word", "ack unacked.events", 0, "RunStopped"],
    ["before its new start is published", "publish unacked.start", 1, ""],
    ["after its new start is published, and before that is confirmed", "confirm unacked.start", 1, ""],
  ];
  it.each(inTurn(points))("runs as it is wanted, once, when the manager dies %s", async (_, point, after, having) => {
    await expectChanged(await changeOn(diesAt(point, after, having)));
  });

  it.runIf(isTurnOf(1))(
    "runs as it is wanted, when its service dies between the confirmed end and the ack: its old message is refused",
    async () => {
      await system.startManager();
      const doomed = await system.startService("service-1", { env: diesAt("ack unacked.start") });
      await untilItMayChange(system);
      const [one] = (await system.createMany("one", 1, { mark: "a" })) as [ObserverView];
      await system.startService("service-2");
      await change(system, one.id, { params: marked(system, "b") });
      expect(await doomed.exited).toEqual(KILLED);
      await untilAsWanted(system, [one.id]);
      await eventually(async () =>
        expect(await system.management.queue("unacked.work.default")).toMatchObject({ ready: 0, unacked: 1 }),
      );
      await system.check();
      expect(marksOf(system, one.id)).toEqual(["a", "b"]);
    },
  );
});

async function inTurns<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await act(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
