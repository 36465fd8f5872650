import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import { onTestFinished, vi } from "vitest";

/** Fake intervals, until the test has ended, for those too that import theirs from Node: what stands in the place of globals does not reach them. */
export function fakeIntervals(): void {
  const { setInterval, clearInterval } = timers;
  const put = (own: object): void => {
    Object.assign(timers, own);
    syncBuiltinESMExports();
  };
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  put({ setInterval: globalThis.setInterval, clearInterval: globalThis.clearInterval });
  onTestFinished(() => {
    vi.useRealTimers();
    put({ setInterval, clearInterval });
  });
}
