import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TaskCredit } from "../../../services/observer-service/src/keeper/tasks/task-credit.ts";
import type { TaskMessage } from "../../../services/observer-service/src/keeper/tasks/task-message.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const message = (): TaskMessage => ({ generation: 1, deliveryCount: 0, isShared: false, settle: () => true });

function consumed(workers: number, running: number) {
  const held = new Set(Array.from({ length: running }, message));
  const credits: number[] = [];
  const credit = new TaskCredit({ workers: () => workers, held: () => new Set(held) });
  const consumer = {
    pause: async () => void credits.push(0),
    resume: async (prefetch: number) => void credits.push(prefetch),
  };
  return { held, credits, credit, consumer };
}

describe("a consumer of tasks that comes after another", () => {
  test("has credit for all workers where nothing runs of what was given before", () => {
    const { credits, credit, consumer } = consumed(5, 0);
    credit.begin(consumer);
    expect(credits).toEqual([5]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("has credit for the others, and for each that has ended, and then is left alone", () => {
    const { held, credits, credit, consumer } = consumed(5, 3);
    credit.begin(consumer);
    const [first, ...rest] = [...held];
    vi.advanceTimersByTime(3_600_000);
    expect(credits).toEqual([2]);
    held.delete(first as TaskMessage);
    vi.advanceTimersByTime(60_000);
    expect(credits).toEqual([2, 3]);
    for (const one of rest) held.delete(one);
    vi.advanceTimersByTime(60_000);
    expect(credits).toEqual([2, 3, 5]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is given less where what came meanwhile runs for long, too", () => {
    const { held, credits, credit, consumer } = consumed(2, 1);
    credit.begin(consumer);
    const [first] = [...held];
    held.add(message());
    held.delete(first as TaskMessage);
    vi.advanceTimersByTime(60_000);
    expect(credits).toEqual([1, 2, 1]);
  });

  test("settles where tasks come and go all the time", () => {
    const { held, credits, credit, consumer } = consumed(5, 5);
    credit.begin(consumer);
    for (let ms = 0; ms < 300_000; ms += 600) {
      const [oldest] = [...held];
      held.delete(oldest as TaskMessage);
      held.add(message());
      vi.advanceTimersByTime(600);
    }
    expect(credits.at(-1)).toBe(5);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("has credit for workers that there are only later, and none while there are none", () => {
    let workers = 0;
    const credits: number[] = [];
    const credit = new TaskCredit({ workers: () => workers, held: () => new Set() });
    const take = async (prefetch = 0) => void credits.push(prefetch);
    credit.begin({ pause: take, resume: take });
    for (workers of [5, 0, 3]) credit.look();
    expect(credits).toEqual([5, 0, 3]);
    credit.end();
    workers = 7;
    credit.look();
    expect(credits).toHaveLength(3);
  });

  test("is left alone once it is to take nothing more", () => {
    const { held, credits, credit, consumer } = consumed(5, 1);
    credit.begin(consumer);
    credit.end();
    held.clear();
    vi.advanceTimersByTime(60_000);
    expect(credits).toEqual([4]);
  });
});
