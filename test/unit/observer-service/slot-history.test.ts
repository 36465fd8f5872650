import { type ObserverId, SlotDeath, type TaskId } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { type DeathFacts, deathOf } from "../../../services/observer-service/src/keeper/slots/handlers/slot-death.ts";
import { SlotHistory } from "../../../services/observer-service/src/keeper/slots/slot-history.ts";
import { SlotLag } from "../../../services/observer-service/src/keeper/slots/slot-lag.ts";
import { LagMeter } from "../../../services/observer-service/src/slot/lag-meter.ts";
import type { FromSlot } from "../../../services/observer-service/src/wire/messages.ts";

const ONE = { observerId: "0190f6f2-0000-7000-8000-000000000001" as ObserverId, name: "spin" };
const OTHER = { observerId: "0190f6f2-0000-7000-8000-000000000002" as ObserverId, name: "calm" };

const facts = (more: Partial<Omit<DeathFacts, "slot">> & { isKilled?: boolean; isLoaded?: boolean }): DeathFacts => ({
  end: { code: null, signal: "SIGKILL" },
  observers: [ONE, OTHER],
  culprit: undefined,
  settledCulprit: undefined,
  endedFor: undefined,
  lastWord: undefined,
  nobodysError: undefined,
  allToldToStop: false,
  doSoByThemselves: false,
  areSuspects: true,
  recycled: undefined,
  isFrozen: false,
  wasDissolved: false,
  ...more,
  slot: { process: { pid: 4_711, isKilled: more.isKilled ?? false }, purpose: { kind: "shared" }, isLoaded: true } as never,
});

describe("why a slot died", () => {
  const error = Object.assign(new Error("blocked for 5000 ms"), { name: "HandlerBlockedError" });

  test.each<[DeathFacts, string, string]>([
    [facts({ culprit: { ...ONE, error } }), "culprit", "spin did it: HandlerBlockedError: blocked for 5000 ms"],
    [
      facts({ settledCulprit: error }),
      "other",
      "one that has settled since did it: HandlerBlockedError: blocked for 5000 ms",
    ],
    [facts({ endedFor: ONE }), "stop", "ended for a stop that spin ignored"],
    [facts({ allToldToStop: true }), "stop", "all that ran in it had been told to stop"],
    [facts({}), "unnamed", "nobody can be named: 2 suspects"],
    [facts({ areSuspects: false }), "unnamed", "nobody can be named: the search has been given up"],
    [facts({ observers: [] }), "other", "nothing ran in it"],
    [facts({ observers: [], isKilled: true, recycled: "its slot took 90 MiB" }), "recycled", "its slot took 90 MiB"],
    [facts({ isFrozen: true }), "other", "it was frozen from outside: neither its threads nor its observers did anything"],
    [facts({ nobodysError: { name: "Error", message: "x" } }), "other", "an error that belongs to no observer: Error: x"],
    [facts({ lastWord: { name: "Error", message: "x" } }), "unnamed", "nobody can be named: 2 suspects; it said Error: x"],
  ])("is told in words (%#)", (known, reason, why) => {
    expect(deathOf(known)).toMatchObject({ pid: 4_711, end: "SIGKILL", purpose: "shared", reason, why });
  });

  test("names a task as one, which has no name of an observer", () => {
    const task = { id: "0190f6f2-0000-7000-8000-000000000003" as TaskId, type: "resize" };
    const death = deathOf(facts({ culprit: { ...ONE, name: `task resize ${task.id}`, task, error } }));
    expect(death).toMatchObject({ why: `task resize ${task.id} did it: HandlerBlockedError: blocked for 5000 ms` });
    expect([death?.culprit, death?.culpritTask]).toEqual([undefined, task]);
  });

  test("names nobody where it was not needed any more: that is no death", () => {
    expect(deathOf(facts({ observers: [], isKilled: true }))).toBeUndefined();
  });
});

describe("the history of slots", () => {
  const death = { pid: 1, purpose: "shared", end: "SIGKILL", runs: 2 };

  test("keeps the last five, the newest first, in a form that a message takes, and counts all", () => {
    const history = new SlotHistory();
    for (let i = 1; i <= 7; i += 1)
      history.note({
        ...death,
        pid: i,
        reason: "culprit",
        why: "w".repeat(10_000),
        culprit: { id: ONE.observerId, name: "spin" },
      });
    expect(history.last().map(({ pid }) => pid)).toEqual([7, 6, 5, 4, 3]);
    expect(history.last().map((one) => SlotDeath.safeParse(one).success)).toEqual([true, true, true, true, true]);
    expect(history.count("culprit")).toBe(7);
  });

  test("does not forget who was named while slots die that name nobody", () => {
    const history = new SlotHistory();
    const culprit = { id: ONE.observerId, name: "spin" };
    history.note({ ...death, pid: 1, reason: "culprit", why: "", culprit }, 0);
    for (let pid = 2; pid <= 9; pid += 1) history.note({ ...death, pid, reason: "unnamed", why: "" }, 1_000);
    expect(history.last(2_000).map(({ pid }) => pid)).toEqual([9, 8, 7, 6, 1]);
    expect(history.last(700_000).map(({ pid }) => pid)).toEqual([9, 8, 7, 6, 5]);
  });

  test("tells of tasks what a message takes, and forgets them no sooner", () => {
    const history = new SlotHistory();
    const noted = { ...death, reason: "culprit", why: "" } as const;
    history.note({ ...noted, pid: 1, culpritTask: { id: ONE.observerId as string as TaskId, type: "resize" } }, 0);
    for (let pid = 2; pid <= 9; pid += 1) history.note({ ...death, pid, reason: "unnamed", why: "" }, 1_000);
    const told = history.last(2_000);
    expect(told.map(({ pid }) => pid)).toEqual([9, 8, 7, 6, 1]);
    expect(told.map((one) => SlotDeath.parse(one))).toEqual(told);
  });

  test("tells what nobody wanted of the last ten minutes alone", () => {
    const history = new SlotHistory();
    history.note({ ...death, reason: "unnamed", why: "" }, 0);
    history.note({ ...death, reason: "stop", why: "" }, 1_000);
    history.note({ ...death, reason: "other", why: "" }, 400_000);
    expect(history.lately(500_000)).toBe(2);
    expect(history.lately(700_000)).toBe(1);
  });
});

describe("the lag of a slot", () => {
  test("is the worst of the last ten seconds", () => {
    const lag = new SlotLag();
    expect(lag.worstMs(0)).toBe(0);
    lag.tell(80, 2_000);
    lag.tell(3, 4_000);
    expect(lag.worstMs(5_000)).toBe(80);
    for (const atMs of [6_000, 8_000, 10_000, 12_000]) lag.tell(3, atMs);
    expect(lag.worstMs(12_500)).toBe(3);
  });

  test("grows while a slot says nothing", () => {
    const lag = new SlotLag();
    lag.tell(3, 2_000);
    expect(lag.worstMs(4_200)).toBe(3);
    expect(lag.worstMs(9_000)).toBe(5_000);
  });

  test("is told by its slot every two seconds, by how late its own ticks came", () => {
    const told: FromSlot[] = [];
    const meter = new LagMeter(100, (message) => told.push(message));
    const beginMs = performance.now();
    for (const atMs of [100, 200, 900, 1_000, 1_900, 2_100, 2_200, 4_200]) meter.tick(beginMs + atMs);
    const lags = told.map((message) => (message.kind === "lag" ? message.lagMs : undefined));
    expect(lags.length).toBe(2);
    expect(lags[0]).toBeCloseTo(800, -1);
    expect(lags[1]).toBe(1_900);
  });
});
