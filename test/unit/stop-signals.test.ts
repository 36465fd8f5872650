import { afterEach, expect, it, vi } from "vitest";
import { stopOnSignals } from "../../scripts/processes/stop-signals.mjs";

afterEach(() => void vi.useRealTimers());

it("A signal is one, however often npm passes it on: what it does is told once", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const said: string[] = [];
  const { stop, unlisten } = stopOnSignals(new AbortController(), {
    onFirst: () => void said.push("first"),
    onAgain: () => void said.push("again"),
  });
  stop();
  stop();
  expect(said).toEqual(["first"]);
  vi.advanceTimersByTime(2_000);
  stop();
  stop();
  unlisten();
  expect(said).toEqual(["first", "again"]);
});
