import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Renewal } from "../../../services/observer-service/src/keeper/runs/renewal.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Runs by older code; each is on no more once it was told to begin again. */
function crowd(count: number, { isApart = false, isReady = (): boolean => true } = {}) {
  const left = new Set(Array.from({ length: count }, (_, i) => i));
  const outdated = () => [...left].map((i) => ({ isReady: isReady(), isApart, begin: () => void left.delete(i) }));
  return { left, outdated };
}

it("lets twenty go over at once, and then twenty more, until nobody is left, and says how many", () => {
  const { left, outdated } = crowd(50);
  const done: number[] = [];
  const renewal = new Renewal({ outdated, onDone: (count) => done.push(count) });
  renewal.begin();
  expect(left.size).toBe(30);
  vi.advanceTimersByTime(50);
  expect(left.size).toBe(10);
  renewal.begin(); // the folder is loaded once more meanwhile
  expect(left.size).toBe(10);
  vi.advanceTimersByTime(100);
  expect(left.size).toBe(0);
  expect(done).toEqual([50]);
});

it("lets those that need a slot of their own go one by one, each when one is warm", () => {
  let isReady = false;
  const { left, outdated } = crowd(3, { isApart: true, isReady: () => isReady });
  new Renewal({ outdated, onDone: () => undefined }).begin();
  vi.advanceTimersByTime(1_000);
  expect(left.size).toBe(3);
  isReady = true;
  vi.advanceTimersByTime(50);
  expect(left.size).toBe(2);
  vi.advanceTimersByTime(100);
  expect(left.size).toBe(0);
});

it("is patient with new slots for a while, and then takes what there is", () => {
  const asked: boolean[] = [];
  const outdated = (isPatient: boolean) => {
    asked.push(isPatient);
    return [{ isReady: false, isApart: false, begin: () => undefined }];
  };
  new Renewal({ outdated, onDone: () => undefined }).begin();
  vi.advanceTimersByTime(2_900);
  expect(asked).not.toContain(false);
  vi.advanceTimersByTime(200);
  expect(asked.at(-1)).toBe(false);
});
