import { expect, test } from "vitest";
import { PoolWatch, type ThreadPoolHeldError } from "../../../services/observer-service/src/slot/pool-watch.ts";

/** One that ticks each 100 ms, beside a pool that answers when it is told to. */
function watched(stuckMs: number) {
  const held: ThreadPoolHeldError[] = [];
  const waiting: (() => void)[] = [];
  const watch = new PoolWatch(
    stuckMs,
    100,
    (error) => held.push(error),
    (done) => waiting.push(done),
  );
  const pass = (ms: number): void => {
    for (let i = 0; i < ms / 100; i += 1) watch.tick();
  };
  const answer = (): void => {
    for (const done of waiting.splice(0)) done();
  };
  return { held, waiting, pass, answer };
}

test("a pool that answers within a minute is not held, however often it is that slow", () => {
  const { held, waiting, pass, answer } = watched(5_000);
  for (let times = 0; times < 5; times += 1) {
    pass(5_000);
    expect(waiting).toHaveLength(1);
    pass(59_900);
    answer();
  }
  expect(held).toEqual([]);
});

test("one that has not answered after a minute is, and that is said once", () => {
  const { held, pass } = watched(5_000);
  pass(5_000 + 59_900);
  expect(held).toEqual([]);
  pass(600_000);
  expect(held.map(({ message }) => message)).toEqual([expect.stringContaining("has taken nothing on for 60 s")]);
});

test("where nothing that blocks is ended, as in a debugger, nothing is asked", () => {
  const { waiting, pass } = watched(0);
  pass(600_000);
  expect(waiting).toEqual([]);
});
