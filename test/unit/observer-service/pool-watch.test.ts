import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "vitest";
import { PoolWatch, type ThreadPoolHeldError } from "../../../services/observer-service/src/slot/pool-watch.ts";

/** What its threads have worked, where that is known. */
let worked: number | undefined;
let isOneAlone: boolean;
beforeEach(() => void ([worked, isOneAlone] = [0, false]));

/** One that ticks each 100 ms, beside a pool that answers when it is told to. */
function watched(stuckMs: number) {
  const held: ThreadPoolHeldError[] = [];
  const waiting: (() => void)[] = [];
  const watch = new PoolWatch({
    ...{ stuckMs, tickMs: 100, isOneAlone: () => isOneAlone, worked: () => worked },
    onHeld: (error) => held.push(error),
    call: (done) => waiting.push(done),
  });
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

test("one that works is not, however much is to be done before", () => {
  const { held, pass } = watched(5_000);
  for (let minutes = 0; minutes < 10; minutes += 1, worked = minutes) pass(59_000);
  expect(held).toEqual([]);
  pass(120_000);
  expect(held).toHaveLength(1);
});

test("where that cannot be told it is after twice the time, which is said", () => {
  worked = undefined;
  const { held, pass } = watched(5_000);
  pass(5_000 + 119_900);
  expect(held).toEqual([]);
  pass(100);
  expect(held.map(({ message }) => message)).toEqual([expect.stringContaining("for 120 s, or has that much to do before:")]);
});

test("nor then where one run alone has begun, until another does", () => {
  [worked, isOneAlone] = [undefined, true];
  const { held, pass } = watched(5_000);
  pass(600_000);
  expect(held).toEqual([]);
  isOneAlone = false;
  pass(100);
  expect(held).toHaveLength(1);
});

test.runIf(process.platform === "linux")(
  "the threads of the pool have worked when calls that compute have come back",
  async () => {
    // As a slot does: found before any worker is.
    const program = `
    const { PoolThreads } = await import(process.argv[1]);
    const threads = new PoolThreads();
    await threads.find();
    const before = threads.ticks();
    const burnt = performance.now() + 300;
    while (performance.now() < burnt);
    const idle = threads.ticks();
    const { pbkdf2 } = await import("node:crypto");
    await new Promise((done) => pbkdf2("a", "b", 200_000, 64, "sha512", done));
    console.log(idle - before <= 1, threads.ticks() - idle >= 5);`;
    const file = new URL("../../../services/observer-service/dist/slot/pool-threads.js", import.meta.url).href;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program, file]);
    expect(stdout.trim()).toBe("true true");
  },
);

test("where nothing that blocks is ended, as in a debugger, nothing is asked", () => {
  const { waiting, pass } = watched(0);
  pass(600_000);
  expect(waiting).toEqual([]);
});
