import { existsSync, readFileSync } from "node:fs";
import type { ObserverView, TimelinePage } from "@unacked/contracts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type CrashPoint, diesAt } from "../support/processes/crash-point.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import {
  change,
  marked,
  quantile,
  runsOf,
  untilAsWanted,
  untilItMayChange,
  updateGapsMs,
} from "../support/system/changes.ts";
import { BUSY_MACHINE_MS, freshSystem, KILLED_KEEPER_OVERLAP_MS, type System } from "../support/system/system.ts";

const LONG_MS = 90_000;
const OBSERVERS_DIR = compiled("admitted");
const KILLED = { code: null, signal: "SIGKILL" };

let system: System;

/** One whose type takes changes as it runs. */
async function createOne(name: string, more: object = {}): Promise<ObserverView> {
  const { body } = await eventually(
    async () => {
      const answer = await system.create(name, { mark: "a" }, { type: "updatable", ...more });
      expect(answer.body.code).not.toBe("admission-not-known");
      return answer;
    },
    { timeoutMs: 40_000, what: "that an admitted type is taken" },
  );
  await system.untilStatus([body.id], "Processing", LONG_MS);
  return system.get(body.id);
}

const serve = (name: string, env: Record<string, string> = {}) =>
  system.startService(name, { workers: 50, env: { OBSERVERS_DIR, UPDATE_TIMEOUT_MS: "1000", ...env } });
const want = (ref: string, mark: string, more: object = {}) => change(system, ref, { params: marked(system, mark, more) });
const actsOf = (id: string) => system.acts().filter(({ observerId }) => observerId === id);
/** In the order of what it did, each once: runs, and marks that they ran by. */
const lived = (id: string) => {
  const all = actsOf(id).map((act) => `${act.runId.slice(-4)} ${(act as { mark?: string }).mark}`);
  return all.filter((one, i) => one !== all[i - 1]);
};
const marksIn = (id: string) => lived(id).map((one) => one.split(" ")[1]);
/** What its `onUpdate` was asked. */
const asked = (id: string): string[] => {
  const file = `${system.actsFile}.asked`;
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line)).flatMap((one) => (one.observerId === id ? [one.mark] : []));
};
const untilActs = (id: string, marks: (string | undefined)[]) =>
  eventually(() => expect(marksIn(id)).toEqual(marks), { timeoutMs: LONG_MS });
const storyOf = async (id: string) =>
  (await system.call<TimelinePage>("GET", `/api/v1/observers/${id}/timeline`)).body.items.map(({ kind, text }) => ({
    kind,
    text,
  }));

const PLACES = [
  ["slots", "2"],
  ["the service itself", "0"],
];
describe.each(inTurn(PLACES))("observers whose type takes changes as they run, in %s", (_, slots) => {
  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await serve("service-1", { SLOTS: slots });
    await untilItMayChange(system);
  }, 240_000);
  afterAll(() => system.close());

  it("go on, with no gap: the same run acts by what is wanted now, and the version is observed", async () => {
    const one = await createOne("applied");
    const asking = await want(one.id, "b");
    expect([asking.status, asking.body.outcome, asking.body.specVersion]).toEqual([202, "changed", 2]);
    await untilActs(one.id, ["a", "b"]);
    const [now] = await untilAsWanted(system, [one.id]);
    expect(now).toMatchObject({ runNumber: 1, revision: 1, currentRunId: one.currentRunId, observedSpecVersion: 2 });
    expect(now?.fencingToken).toBe(one.fencingToken);
    expect(new Set(actsOf(one.id).map(({ runId }) => runId)).size).toBe(1);
    expect(await storyOf(one.id)).toContainEqual({ kind: "updated", text: "runs by version 2" });
    await system.check({ timeoutMs: LONG_MS });
  });

  it("of many changes at once the newest counts", async () => {
    const one = await createOne("many");
    const marks = Array.from({ length: 20 }, (_, i) => `m${i}`);
    for (const mark of marks) await want(one.id, mark);
    await untilAsWanted(system, [one.id]);
    await eventually(() => expect(marksIn(one.id).at(-1)).toBe("m19"), { timeoutMs: LONG_MS });
    expect(await system.get(one.id)).toMatchObject({ runNumber: 1, specVersion: 21, observedSpecVersion: 21 });
  });

  it("that ask for a restart begin again in place: same message, a higher fencing token", async () => {
    const one = await createOne("restart");
    await want(one.id, "b", { answer: "restart" });
    await untilActs(one.id, ["a", "b"]);
    const [now] = await untilAsWanted(system, [one.id]);
    expect(now).toMatchObject({ runNumber: 2, revision: 1, fencingToken: (one.fencingToken ?? 0) + 1 });
    await system.check({ timeoutMs: LONG_MS });
  });

  it("that reject it run on, say why, and keep what they have, a restart of their service included; until somebody restarts them", async () => {
    const one = await createOne("rejected");
    await want(one.id, "b", { answer: "rejected" });
    await eventually(async () => expect((await system.get(one.id)).rejectedUpdate).not.toBeNull(), { timeoutMs: LONG_MS });
    const now = await system.get(one.id);
    expect(now).toMatchObject({ status: "Processing", pending: null, specVersion: 2, observedSpecVersion: 1, runNumber: 1 });
    expect(now.rejectedUpdate).toMatchObject({
      specVersion: 2,
      reason: "not b",
      keeps: { specVersion: 1, params: { mark: "a" } },
    });
    expect(await storyOf(one.id)).toContainEqual({ kind: "rejected", text: "version 2: not b" });
    await system.service("service-1").kill("SIGKILL");
    await serve("service-1", { SLOTS: slots });
    await eventually(async () => expect((await system.get(one.id)).runNumber).toBe(2), { timeoutMs: LONG_MS });
    await system.untilStatus([one.id], "Processing", LONG_MS);
    await untilActs(one.id, ["a", "a"]);
    expect(asked(one.id)).toEqual(["b"]);
    expect(await system.get(one.id)).toMatchObject({ observedSpecVersion: 1, rejectedUpdate: { specVersion: 2 } });
    const restarted = await system.call<ObserverView>("POST", `/api/v1/observers/${one.id}/restart`);
    expect([restarted.status, restarted.body.pending]).toEqual([202, "update"]);
    const [after] = await untilAsWanted(system, [one.id]);
    expect(after?.rejectedUpdate).toBeNull();
    await untilActs(one.id, ["a", "a", "b"]);
    await system.check({ timeoutMs: LONG_MS });
  });

  it.each([
    ["throws", "throws", "onUpdate threw TypeError: cannot take b"],
    ["does not answer in time", "hangs", "onUpdate has not answered for 1000 ms"],
  ])("whose handler %s begin again with what is wanted, and say so", async (_what, answer, why) => {
    const one = await createOne(`wrong-${answer}`);
    await want(one.id, "b", { answer });
    await untilActs(one.id, ["a", "b"]);
    const [now] = await untilAsWanted(system, [one.id]);
    expect([now?.runNumber, now?.rejectedUpdate]).toEqual([2, null]);
    expect(await storyOf(one.id)).toContainEqual({ kind: "updated", text: `begins again with version 2: ${why}` });
  });

  it("of any type are told new limits of silence at once, and go on", async () => {
    const [one] = (await system.createMany(`quiet-${slots}`, 1)) as [ObserverView];
    const asking = await change(system, one.id, { silence: { warnAfterMs: 1_000 } });
    expect([asking.status, asking.body.outcome]).toEqual([202, "changed"]);
    await eventually(async () => expect((await system.get(one.id)).silentSince).not.toBeNull(), { timeoutMs: LONG_MS });
    expect(await system.get(one.id)).toMatchObject({ runNumber: 1, observedSpecVersion: 2, pending: null });
    await change(system, one.id, { silence: null });
    await eventually(async () => expect((await system.get(one.id)).silentSince).toBeNull(), { timeoutMs: LONG_MS });
    // The message is older than that: the run that comes of it is told, too.
    await change(system, one.id, { silence: { warnAfterMs: 1_000 } });
    await untilAsWanted(system, [one.id]);
    await system.service("service-1").kill("SIGKILL");
    await serve("service-1", { SLOTS: slots });
    await eventually(
      async () =>
        expect(await system.get(one.id)).toMatchObject({ runNumber: 2, revision: 1, silentSince: expect.any(String) }),
      { timeoutMs: LONG_MS },
    );
  });

  it("have a gap of 0, where a restart has one", async () => {
    const ids = (await Promise.all(Array.from({ length: 20 }, (_, i) => createOne(`gap-${i}`)))).map(({ id }) => id);
    await Promise.all(ids.map((id) => want(id, "b", { everyMs: 5 })));
    await untilAsWanted(system, ids);
    for (const id of ids) await untilActs(id, ["a", "b"]);
    const hot = updateGapsMs(system, ids, "b");
    await Promise.all(ids.map((id) => want(id, "c", { everyMs: 5, answer: "restart" })));
    await untilAsWanted(system, ids);
    for (const id of ids) await untilActs(id, ["a", "b", "c"]);
    const restarted = updateGapsMs(system, ids, "c");
    expect(ids.map((id) => new Set(actsOf(id).map(({ runId }) => runId)).size)).toEqual(ids.map(() => 2));
    const told = (gaps: number[]) => `p50 ${quantile(gaps, 0.5).toFixed(1)} ms, p99 ${quantile(gaps, 0.99).toFixed(1)} ms`;
    console.log(
      `20 at once between two acts: as they run ${told(hot)} (the turn of 20 ms included), in place ${told(restarted)}`,
    );
  });
});

describe("an observer that is told what is wanted as somebody dies", () => {
  beforeEach(async () => {
    system = await freshSystem();
  });
  afterEach(() => system.close());

  const points: [string, CrashPoint, number, string][] = [
    ["before its order is published", "publish unacked.service", 1, ""],
    ["after its order is published, and before that is confirmed", "confirm unacked.service", 1, ""],
    ["before the ack of the answer", "ack unacked.events", 0, "RunUpdated"],
  ];
  it.each(inTurn(points))("goes on by it, when the manager dies %s", async (_, point, after, having) => {
    const doomed = await system.startManager({ env: diesAt(point, after, having) });
    await serve("service-1");
    await untilItMayChange(system);
    const one = await createOne("one");
    await want(one.id, "b").catch(() => undefined);
    expect(await doomed.exited).toEqual(KILLED);
    await system.startManager();
    await untilActs(one.id, ["a", "b"]);
    const [now] = await untilAsWanted(system, [one.id]);
    expect(now).toMatchObject({ runNumber: 1, specVersion: 2, rejectedUpdate: null });
    expect(asked(one.id)).toEqual(["b"]);
    await system.check({ timeoutMs: LONG_MS });
  });

  it.runIf(isTurnOf(0))(
    "begins with what is wanted, when its service dies before it has answered, whatever its handler said",
    async () => {
      await system.startManager();
      const doomed = await serve("service-1");
      await untilItMayChange(system);
      const one = await createOne("one");
      await serve("service-2");
      await want(one.id, "b", { answer: "dies-with-service" });
      expect(await doomed.exited).toEqual(KILLED);
      const [now] = await untilAsWanted(system, [one.id]);
      await untilActs(one.id, ["a", "b"]);
      expect([now?.service?.name, now?.rejectedUpdate]).toEqual(["service-2", null]);
      await system.check({ timeoutMs: LONG_MS });
      expect(system.reportOverlap("told as its service died", [one])).toBeLessThanOrEqual(
        KILLED_KEEPER_OVERLAP_MS + BUSY_MACHINE_MS,
      );
    },
  );

  it.runIf(isTurnOf(1))("is given what is wanted by its next admission, when it moves before it was told", async () => {
    // It dies as it would send the order, so that nobody has sent it when the observer moves.
    const doomed = await system.startManager({ env: diesAt("publish unacked.service", 1) });
    await serve("service-1");
    await untilItMayChange(system);
    const one = await createOne("one");
    await want(one.id, "b").catch(() => undefined);
    expect(await doomed.exited).toEqual(KILLED);
    await system.service("service-1").kill("SIGKILL");
    await system.startService("service-2", { env: { OBSERVERS_DIR }, untilKnown: false });
    await system.startManager();
    await untilAsWanted(system, [one.id]);
    await untilActs(one.id, ["a", "b"]);
    expect([asked(one.id), (await runsOf(system, one.id)).map(({ specVersion }) => specVersion)]).toEqual([[], [2, 1]]);
    await system.check({ timeoutMs: LONG_MS });
  });

  const ofSlot = [
    ["dies", "exits"],
    ["is blocked", "blocks"],
  ];
  it.each(inTurn(ofSlot))("begins again with what is wanted when its slot %s while it is asked", async (_, answer) => {
    await system.startManager();
    // A slot that loads its types on a busy machine is not stuck.
    await serve("service-1", { SLOTS: "2", STUCK_MS: "4000", UPDATE_TIMEOUT_MS: "60000" });
    await untilItMayChange(system);
    const one = await createOne("one", { retry: { delaysMs: [100] } });
    await want(one.id, "b", { answer });
    await untilAsWanted(system, [one.id]);
    await untilActs(one.id, ["a", "b"]);
    expect(asked(one.id)).toEqual(["b"]);
    await system.check({ timeoutMs: LONG_MS });
    expect(system.reportOverlap("its slot died as it was asked", [one])).toBe(0);
  });
});
