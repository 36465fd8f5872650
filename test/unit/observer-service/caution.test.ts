import { expect, test } from "vitest";
import { Caution } from "../../../services/observer-service/src/keeper/intake/caution.ts";

const HEARTBEAT_MS = 10_000;
const QUICK_MS = 100;
const BETWEEN_MS = 2_000;
const SLOW_MS = 6_000;
const NONE = () => 0;

/** One that has lost its lease at time 0. */
function careful(workers: number): Caution {
  const caution = new Caution(workers);
  expect(caution.leaseLost("deadline-passed", 0)).toBe(true);
  return caution;
}

/** Takes a whole window, and is answered. @returns the next one's size */
function round(caution: Caution, tookMs: number, nowMs = 0): number | undefined {
  caution.begin(caution.size(nowMs) ?? 0, nowMs);
  expect(caution.look({ isSpent: true, underWay: NONE }, nowMs)).toBe(true);
  expect(caution.answered({ sentAtMs: nowMs, tookMs, heartbeatMs: HEARTBEAT_MS })).toBe(true);
  return caution.size(nowMs);
}

test("nothing is held back from a service that has never been too slow, nor after the end of a connection or a lost message", () => {
  const caution = new Caution(10_000);
  expect(caution.size(0)).toBeUndefined();
  for (const why of ["session-lost", "taken-back", "process-failed"] as const) expect(caution.leaseLost(why, 0)).toBe(false);
  expect(caution.size(0)).toBeUndefined();
});

test("the first window is a sixteenth of all workers; after each further loss, half of what the one before began with, never less than sixteen", () => {
  const caution = careful(10_000);
  expect(caution.size(0)).toBe(625);
  for (let answers = 0; answers < 3; answers += 1) round(caution, QUICK_MS);
  expect(caution.size(0)).toBe(5_000);
  const windows = Array.from({ length: 7 }, (_, loss) => {
    caution.leaseLost("deadline-passed", loss);
    return caution.size(loss);
  });
  expect(windows).toEqual([313, 157, 79, 40, 20, 16, 16]);
});

test("windows double up to half of what was too much, then grow by the first one; they stay after an answer between, and are halved after a slow one", () => {
  const caution = careful(10_000);
  const quickly = (times: number) => Array.from({ length: times }, () => round(caution, QUICK_MS));
  expect(quickly(5)).toEqual([1_250, 2_500, 5_000, 5_625, 6_250]);
  expect(round(caution, BETWEEN_MS)).toBe(6_250);
  expect(round(caution, SLOW_MS)).toBe(3_125);
  expect(quickly(2)).toEqual([3_750, 4_375]);
  caution.leaseLost("deadline-passed", 1);
  expect([caution.size(1), ...quickly(4)]).toEqual([313, 626, 1_252, 2_188, 2_501]);
});

test("a window as large as all workers ends it, and another loss soon after still begins with less", () => {
  const caution = careful(1_000);
  while (caution.size(0) !== undefined) round(caution, QUICK_MS);
  caution.leaseLost("deadline-passed", 300_000);
  expect(caution.size(300_000)).toBe(32);
  expect(careful(1_000).leaseLost("deadline-passed", 600_000)).toBe(true);
});

test("after ten minutes a loss is the first again", () => {
  const caution = careful(1_000);
  caution.leaseLost("deadline-passed", 600_000);
  expect(caution.size(600_000)).toBe(63);
});

test("the next window waits until this one has come, has begun but for a quarter, and the broker has answered since", () => {
  const caution = careful(1_000); // 63
  caution.begin(63, 0);
  const answer = (sentAtMs: number) => caution.answered({ sentAtMs, tookMs: QUICK_MS, heartbeatMs: HEARTBEAT_MS });
  expect([caution.look({ isSpent: false, underWay: NONE }, 1), answer(1)]).toEqual([false, false]);
  expect([caution.look({ isSpent: true, underWay: () => 16 }, 2), answer(2)]).toEqual([false, false]);
  expect([caution.look({ isSpent: true, underWay: () => 15 }, 3), answer(2)]).toEqual([true, false]);
  expect([caution.waitsMs(5), caution.mayGoOn]).toEqual([3, false]);
  expect([answer(3), caution.mayGoOn, caution.waitsMs(9)]).toEqual([true, true, 0]);
});

test("what does not begin within ten seconds is not waited for", () => {
  const caution = careful(1_000);
  caution.begin(63, 0);
  expect(caution.look({ isSpent: true, underWay: () => 63 }, 0)).toBe(false);
  expect(caution.look({ isSpent: true, underWay: () => 63 }, 9_999)).toBe(false);
  expect(caution.look({ isSpent: true, underWay: () => 63 }, 10_000)).toBe(true);
});

test("windows do not grow by answers while few workers are free", () => {
  const caution = careful(1_000);
  caution.begin(1, 0);
  caution.look({ isSpent: true, underWay: NONE }, 0);
  caution.answered({ sentAtMs: 0, tookMs: QUICK_MS, heartbeatMs: HEARTBEAT_MS });
  expect(caution.size(0)).toBe(63);
});

test("it lapses after a minute in which nothing came, counted from the session or the last window, and never while an answer is waited for", () => {
  const caution = careful(1_000);
  caution.begin(0, 50_000); // the session
  expect(caution.size(109_999)).toBe(63);
  caution.begin(63, 100_000);
  caution.look({ isSpent: true, underWay: NONE }, 100_000);
  expect(caution.size(900_000)).toBe(63);
  caution.answered({ sentAtMs: 900_000, tookMs: BETWEEN_MS, heartbeatMs: HEARTBEAT_MS });
  expect(caution.size(961_999)).toBe(63);
  expect(caution.size(962_000)).toBeUndefined();
});

test("with as few workers as the least window there is nothing to be careful about", () => {
  expect(new Caution(16).leaseLost("deadline-passed", 0)).toBe(false);
  expect(careful(17).size(0)).toBe(16);
});
