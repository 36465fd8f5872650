import { expect, it } from "vitest";
import { Silence } from "../../../services/observer-service/src/keeper/slots/supply/slot-silence.ts";

const EVERY_MS = 1_000;
const LIMIT_MS = 2_000;
const slot = {};

/** Looks each second from the first on, and hears it at these times. @returns when it was found silent, in ms */
function foundAt(heardAtMs: readonly number[], looksMs: readonly number[]): number | undefined {
  const fromMs = performance.now();
  const silence = new Silence<object>(EVERY_MS, LIMIT_MS);
  const events = [
    ...heardAtMs.map((atMs) => ({ atMs, look: false })),
    ...looksMs.map((atMs) => ({ atMs, look: true })),
  ].sort((a, b) => a.atMs - b.atMs);
  for (const { atMs, look } of events) {
    if (!look) silence.heard(slot);
    else if (silence.look([slot], fromMs + atMs).length > 0) return atMs;
  }
  return undefined;
}

const seconds = (count: number): number[] => Array.from({ length: count }, (_, index) => (index + 1) * 1_000);

it("one that was heard just before a look, and then a little late, is not silent", () => {
  expect(foundAt([999, 2_050, 2_999, 4_050], seconds(5))).toBeUndefined();
});

it("one that is not heard of any more is found when it has been silent for the limit, and not before", () => {
  for (const lastMs of [1_001, 1_500, 1_999]) {
    const atMs = foundAt([lastMs], seconds(10)) ?? 0;
    expect(atMs - lastMs).toBeGreaterThanOrEqual(LIMIT_MS);
    expect(atMs - lastMs).toBeLessThan(LIMIT_MS + EVERY_MS);
  }
});

it("a look that comes late counts for nobody: this process was not there to hear", () => {
  expect(foundAt([500], [1_000, 2_000, 9_000, 10_000])).toBe(10_000);
  expect(foundAt([500], [1_000, 9_000, 17_000, 25_000])).toBeUndefined();
});

it("one that was never heard of has to load first: more is allowed to it", () => {
  expect(foundAt([], seconds(30))).toBe(20_000);
});
