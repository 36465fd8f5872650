import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LiveRun } from "../../../services/observer-service/src/keeper/runs/live-run.ts";
import { Silences } from "../../../services/observer-service/src/keeper/runs/silences.ts";

const log = { info: () => undefined, warn: () => undefined };
const running = (): LiveRun => ({ state: { phase: "running", failures: 0 }, log }) as unknown as LiveRun;

describe("who has fallen silent, or is heard again", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const told: LiveRun[] = [];
  const silences = () => {
    told.length = 0;
    return new Silences((run) => told.push(run));
  };

  it("is told, a thousand a second at most, each once", () => {
    const all = silences();
    const runs = Array.from({ length: 2_500 }, running);
    for (const run of runs) all.note(run, 60_000);
    vi.advanceTimersByTime(1);
    expect(told.length).toBe(1_000);
    vi.advanceTimersByTime(1_000);
    expect(told.length).toBe(2_000);
    vi.advanceTimersByTime(10_000);
    expect(told).toEqual(runs);
  });

  it("is not told at all where it is heard again before its turn", () => {
    const all = silences();
    const run = running();
    all.note(run, 60_000);
    all.note(run, undefined);
    vi.advanceTimersByTime(5_000);
    expect(told).toEqual([]);
    all.note(run, 60_000);
    vi.advanceTimersByTime(5_000);
    all.note(run, undefined);
    vi.advanceTimersByTime(5_000);
    expect(told).toEqual([run, run]);
  });

  it("is not told of one whose handler has ended, which tells more", () => {
    const all = silences();
    const run = running();
    all.note(run, 60_000);
    run.silence = undefined; // as the runner does
    vi.advanceTimersByTime(5_000);
    expect(told).toEqual([]);
  });
});
