import { type BatchedTask, defineTask } from "@unacked/sdk";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { BatchHandler } from "../../../services/observer-service/src/slot/batch-handler.ts";

describe("the signals of those that came in one call", () => {
  const whole = new AbortController();
  const tell = () => undefined;

  /** Two, given to a handler that goes on until its own signal has fired. @returns what it was given, and when it is over */
  function begin(signal: AbortSignal) {
    const given: BatchedTask[] = [];
    const definition = defineTask({
      type: "two",
      params: z.strictObject({}),
      batch: { size: 2 },
      async runBatch(tasks, ctx) {
        given.push(...tasks);
        if (!ctx.signal.aborted) await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
        return [];
      },
    });
    const members = ["a", "b"].map((taskId) => ({ taskId, params: {}, attempt: 1 }));
    const handler = new BatchHandler({ definition, members, tell } as never);
    const over = handler.definition.run({ signal, log: { warn: tell } } as never);
    return { handler, given, over };
  }

  it("are of each alone: who is to end is told so, the other goes on", () => {
    const { handler, given } = begin(whole.signal);
    handler.abort("a", "not wanted");
    expect(given.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(given[0]?.signal.reason).toBe("not wanted");
  });

  it("fire all when the call is to end, each with that reason but where it had another before", async () => {
    const ending = new AbortController();
    const { handler, given, over } = begin(ending.signal);
    handler.abort("b", "not wanted");
    ending.abort("its time is up");
    await over;
    expect(given.map(({ signal }) => signal.reason)).toEqual(["its time is up", "not wanted"]);
  });

  it("are in a copy of a task, too", () => {
    const { handler, given } = begin(whole.signal);
    const [copy] = given.map((task) => ({ ...task, name: "copy" }));
    handler.abort("a", "not wanted");
    expect(copy?.signal.reason).toBe("not wanted");
    expect(copy?.signal).toBe(given[0]?.signal);
  });

  it("can be replaced, as any other property can", () => {
    const { handler, given } = begin(whole.signal);
    const [task, other] = given as unknown as [{ signal: AbortSignal }, { signal: AbortSignal }];
    const both = AbortSignal.any([task.signal, AbortSignal.timeout(60_000)]);
    task.signal = both;
    handler.abort("a", "not wanted");
    expect(task.signal).toBe(both);
    expect(both.reason).toBe("not wanted");
    expect({ ...task }.signal).toBe(both);
    expect(other.signal.aborted).toBe(false);
  });

  it("are made by what all tasks share, whichever call they came in", () => {
    const calls = [begin(whole.signal), begin(whole.signal)];
    const getters = calls.flatMap(({ given }) => given.map((task) => Object.getOwnPropertyDescriptor(task, "signal")?.get));
    expect(getters).toHaveLength(4);
    expect(new Set(getters).size).toBe(1);
    expect(new Set(calls.flatMap(({ given }) => given.map(({ signal }) => signal))).size).toBe(4);
  });

  it("have fired where the call was to end before it began", async () => {
    const { given, over } = begin(AbortSignal.abort("draining"));
    await over;
    expect(given.map(({ signal }) => signal.reason)).toEqual(["draining", "draining"]);
  });
});

it("What became of a hundred is told together, but for long results: no frame is too long", async () => {
  const sizes = [...Array.from({ length: 50 }, () => 10), ...Array.from({ length: 7 }, () => 65_000)];
  const definition = defineTask({
    type: "long",
    params: z.strictObject({}),
    batch: { size: 100 },
    runBatch: async (tasks) => tasks.map(({ taskId }) => ({ taskId, output: "x".repeat(sizes[Number(taskId)] as number) })),
  });
  const told: { taskId: string }[][] = [];
  const members = sizes.map((_, i) => ({ taskId: String(i), params: {}, attempt: 1 }));
  const handler = new BatchHandler({ definition, members, tell: (results: never) => told.push(results) } as never);
  await handler.definition.run({ signal: new AbortController().signal, log: console } as never);
  expect(told.map(({ length }) => length)).toEqual([55, 2]);
  expect(told.flat().map(({ taskId }) => taskId)).toEqual(members.map(({ taskId }) => taskId));
});

it("What one task has failed of costs no other, whatever it is: also what has no JSON", async () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const errors: Record<string, unknown> = { circular, bigint: 7n, text: "no such page", nothing: undefined };
  const definition = defineTask({
    type: "some-fail",
    params: z.strictObject({}),
    batch: { size: 5 },
    runBatch: async (tasks) =>
      tasks.map(({ taskId }) => (taskId in errors ? { taskId, error: errors[taskId] } : { taskId, output: 1 })),
  });
  const told: { taskId: string; output?: string; error?: { message: string } }[] = [];
  const members = [...Object.keys(errors), "fine"].map((taskId) => ({ taskId, params: {}, attempt: 1 }));
  const handler = new BatchHandler({ definition, members, tell: (results: never[]) => told.push(...results) } as never);
  await handler.definition.run({ signal: new AbortController().signal, log: console } as never);
  expect(told.map(({ taskId, output, error }) => [taskId, output ?? error?.message])).toEqual([
    ["circular", expect.stringContaining("[Circular *1]")],
    ["bigint", expect.stringContaining("7n")],
    ["text", "no such page"],
    ["nothing", expect.stringContaining("undefined")],
    ["fine", "1"],
  ]);
});

/** Gives two, `odd` and `fine`, to this handler. @returns what was told of each: its result, or its error */
async function toldOf(
  runBatch: (tasks: readonly BatchedTask[]) => Promise<unknown>,
): Promise<[string, string | undefined][]> {
  const definition = defineTask({
    type: "odd",
    params: z.strictObject({}),
    batch: { size: 2 },
    runBatch: runBatch as never,
  });
  const told: { taskId: string; output?: string; error?: { message: string } }[] = [];
  const members = ["odd", "fine"].map((taskId) => ({ taskId, params: {}, attempt: 1 }));
  const handler = new BatchHandler({ definition, members, tell: (results: never[]) => told.push(...results) } as never);
  const log = { warn: () => undefined };
  await handler.definition.run({ signal: new AbortController().signal, log } as never);
  return told.map(({ taskId, output, error }) => [taskId, output ?? error?.message]);
}

const broken = () => {
  throw new Error("nothing to see");
};

it.each([
  ["whose output cannot be read", { get: broken }, "nothing to see"],
  [
    "whose output nobody has awaited",
    { value: Promise.resolve(1) },
    "the output is a promise, which nobody awaits: await it",
  ],
])("A result %s fails its own task alone", async (_, output, message) => {
  const odd = Object.defineProperty({ taskId: "odd" }, "output", { ...output, enumerable: true });
  const told = await toldOf(async () => [odd, { taskId: "fine", output: 1 }]);
  expect(told).toEqual([
    ["odd", message],
    ["fine", "1"],
  ]);
});

it.each([
  ["cannot be read", Object.defineProperty({}, "taskId", { get: broken })],
  ["has no text form", { taskId: Object.create(null) }],
])("A result whose task %s is one of no task, and costs the others nothing", async (_, strange) => {
  const told = await toldOf(async () => [strange, { taskId: "fine", output: 1 }]);
  expect(told).toEqual([
    ["odd", "runBatch returned no result for this task"],
    ["fine", "1"],
  ]);
});

it("A list of promises is refused with what to do", async () => {
  const all = (tasks: readonly BatchedTask[]) => tasks.map(async ({ taskId }) => ({ taskId, output: 1 }));
  await expect(toldOf(async (tasks) => all(tasks))).rejects.toMatchObject({
    code: "invalid-output",
    message: expect.stringContaining("Promise.all"),
  });
});
