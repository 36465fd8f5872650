import {
  type BatchedTask,
  type BatchResult,
  defineTask,
  isTaskPostponed,
  NonRetryableError,
  ObserverStopped,
  runTask,
  SdkError,
  Spy,
  type StopCode,
  sleep,
  type TaskCreation,
  type TaskCreator,
} from "@unacked/sdk";
import { isTaskDefinition, unknownFieldsOf } from "@unacked/sdk/host";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";

const double = defineTask({
  type: "double",
  params: z.strictObject({ of: z.int(), ms: z.int().default(0) }),
  output: z.object({ value: z.int() }),
  timeoutMs: 100,
  async run({ params: { of, ms }, signal, log, attempt }) {
    log.info("doubling", { attempt });
    if (ms > 0) await sleep(ms, signal);
    if (of < 0) throw new NonRetryableError("negative");
    return { value: of === 13 ? 0.5 : 2 * of };
  },
});

describe("a task in memory", () => {
  it("creates no other whose params its type would not take once they have been JSON", async () => {
    const child = (since: z.ZodType) => defineTask({ type: "child", params: z.object({ since }), run: async () => null });
    const parent = defineTask({
      type: "parent",
      params: z.object({ isText: z.boolean() }),
      run: async ({ params, tasks }) =>
        tasks.create(child(params.isText ? z.coerce.date() : z.date()), { since: new Date(0) }),
    });
    await expect(runTask(parent, { params: { isText: false } })).rejects.toMatchObject({ code: "invalid-params" });
    const created: TaskCreation[] = [];
    await runTask(parent, { params: { isText: true }, onCreate: (task) => created.push(task) });
    expect(created).toMatchObject([{ type: "child", params: { since: "1970-01-01T00:00:00.000Z" } }]);
  });

  it("gives its result, as it would be kept", async () => {
    const lines: string[] = [];
    const result = await runTask(double, { params: { of: 4 }, onLog: ({ message }) => lines.push(message) });
    expect(result).toEqual({ value: 8 });
    expect(lines).toEqual(["doubling"]);
  });

  it("is seen by one spy in each of its attempts, also in two at once", async () => {
    const spy = new Spy();
    const say = defineTask({
      type: "say",
      params: z.object({ text: z.string(), after: z.string().optional() }),
      async run({ params: { text, after }, log }) {
        if (after !== undefined) await spy.waitFor("log", ({ message }) => message === after);
        log.info(text);
      },
    });
    await runTask(say, { params: { text: "one" }, spy });
    const third = runTask(say, { params: { text: "three", after: "two" }, spy });
    const fourth = runTask(say, { params: { text: "four", after: "three" }, spy });
    const fifth = spy.waitFor("log", ({ message }) => message === "five");
    await Promise.all([runTask(say, { params: { text: "two" }, spy }), third, fourth]);
    expect(spy.seen("log").map(({ message }) => message)).toEqual(["one", "two", "three", "four"]);
    await expect(fifth).rejects.toMatchObject({
      code: "event-not-seen",
      message: expect.stringMatching(/^the attempt ended/),
    });
  });

  it("has the type of what is kept, not of what its handler returns", async () => {
    const stamp = defineTask({
      type: "stamp",
      params: z.object({}),
      output: z.date().transform((at) => at.toISOString()),
      run: async () => new Date(0),
    });
    const kept: string = await runTask(stamp);
    expect(kept).toBe("1970-01-01T00:00:00.000Z");
  });

  it("rejects as its attempt fails", async () => {
    await expect(runTask(double, { params: { of: -1 } })).rejects.toThrow(NonRetryableError);
    await expect(runTask(double, { params: { of: "1" } })).rejects.toMatchObject({ code: "invalid-params" });
    await expect(runTask(double, { params: { of: 13 } })).rejects.toMatchObject({ code: "invalid-output" });
    const whole = defineTask({ type: "x", params: z.object({}), output: z.strictObject({}), run: async () => 7 as never });
    await expect(runTask(whole)).rejects.toThrow(/does not pass: output: Invalid input/);
    const unknown = { type: "x", params: z.object({}), output: z.strictObject({}), run: async () => ({ more: 1 }) as never };
    await expect(runTask(defineTask(unknown))).rejects.toThrow(/does not pass: \/more: there is no such field$/);
    await expect(runTask(double, { params: { of: 1, ms: 60_000 } })).rejects.toMatchObject({ code: "failed" });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(runTask(double, { params: { of: 1 }, signal })).rejects.toThrow("enough");
  });

  it.each<[string, z.ZodType, unknown, string]>([
    [
      "a Date",
      z.object({ rows: z.array(z.object({ at: z.date() })) }),
      { rows: [{ at: new Date(0) }] },
      "/rows/0/at: JSON has no Date",
    ],
    ["a Date of a text", z.object({ at: z.coerce.date() }), { at: "1970-01-01" }, "/at: JSON has no Date"],
    ["a Set", z.object({ seen: z.set(z.string()) }), { seen: new Set(["a"]) }, "/seen: JSON has no Set"],
    ["a Map", z.map(z.string(), z.int()), new Map([["a", 1]]), "output: JSON has no Map"],
    ["a number that is none", z.object({ "a/b": z.nan() }), { "a/b": Number.NaN }, "/a~1b: JSON has no NaN"],
    ["a gap", z.array(z.int().optional()), [1, undefined], "/1: JSON has no undefined"],
  ])("fails with a result that would be another as JSON: %s", async (_, output, given, place) => {
    const run = runTask(defineTask({ type: "x", params: z.object({}), output, run: async () => given }));
    const message = `what the handler returned would be another as JSON, as which it is kept: ${place}`;
    await expect(run).rejects.toMatchObject({ code: "invalid-output", message });
  });

  it.each<[string, z.ZodType | undefined, unknown, unknown]>([
    ["what is undefined", z.object({ a: z.int().optional() }), { a: undefined }, {}],
    [
      "what its schema made a text of",
      z.date().transform((at) => at.toISOString()),
      new Date(0),
      "1970-01-01T00:00:00.000Z",
    ],
    [
      "what its schema knows nothing of",
      z.object({ a: z.unknown() }),
      { a: new Date(0) },
      { a: "1970-01-01T00:00:00.000Z" },
    ],
    [
      "what it knows nothing of beside what it makes another of",
      z.object({ at: z.date().transform((at) => at.toISOString()), rows: z.array(z.unknown()) }),
      { at: new Date(0), rows: [{ made: new Date(0) }] },
      { at: "1970-01-01T00:00:00.000Z", rows: [{ made: "1970-01-01T00:00:00.000Z" }] },
    ],
    ["whatever it is, without a schema", undefined, { a: new Date(0) }, { a: "1970-01-01T00:00:00.000Z" }],
    ["nothing", z.undefined(), undefined, null],
  ])("takes as a result %s", async (_, output, given, kept) => {
    const task = { type: "x", params: z.object({}), ...(output && { output }), run: async () => given };
    expect(await runTask(defineTask(task))).toEqual(kept);
  });

  it("rejects when its time is over, or its signal aborts, also where its handler ignores that", async () => {
    const deaf = (timeoutMs: number) =>
      defineTask({ type: "deaf", params: z.object({}), timeoutMs, run: () => new Promise(() => undefined) });
    const message = "the handler has not settled within 10 ms (timeoutMs)";
    await expect(runTask(deaf(10))).rejects.toMatchObject({ message, cause: { name: "TaskTimeoutError", message } });
    const leaving = new AbortController();
    const run = runTask(deaf(60_000), { signal: leaving.signal });
    leaving.abort(new Error("enough"));
    await expect(run).rejects.toThrow("enough");
  });

  it.each([
    ["its time is over", 10, undefined],
    ["its signal aborts", 60_000, new Error("enough")],
  ])("rejects by that, whatever its handler throws once %s: it is tried again", async (_, timeoutMs, reason) => {
    const task = defineTask({
      type: "x",
      params: z.object({}),
      timeoutMs,
      run: ({ signal }) =>
        sleep(60_000, signal).then(() => {
          throw new NonRetryableError("it was told to end");
        }),
    });
    const ending = new AbortController();
    const run = runTask(task, { signal: ending.signal });
    if (reason !== undefined) ending.abort(reason);
    await expect(run).rejects.toMatchObject(reason ?? { name: "ObserverStopped", code: "failed" });
  });

  it("is waited for as it cleans up", async () => {
    let isClean = false;
    const task = defineTask({
      type: "x",
      params: z.object({}),
      timeoutMs: 10,
      run: async ({ signal }) => {
        await sleep(60_000, signal).catch(() => undefined);
        await sleep(50, new AbortController().signal);
        isClean = true;
      },
    });
    await expect(runTask(task)).rejects.toThrow("has not settled within 10 ms");
    expect(isClean).toBe(true);
  });

  it("does not run where its signal has aborted before", async () => {
    let ran = false;
    const task = defineTask({ type: "x", params: z.object({}), run: async () => void (ran = true) });
    await expect(runTask(task, { signal: AbortSignal.abort(new Error("gone")) })).rejects.toThrow("gone");
    expect(ran).toBe(false);
  });

  it("remembers which fields of its draft mean nothing", () => {
    const draft = { type: "x", params: z.object({}), run: async () => null, timeoutMS: 1, retries: 3 };
    expect(unknownFieldsOf(defineTask(draft))).toEqual(["timeoutMS", "retries"]);
    expect(unknownFieldsOf(double)).toEqual([]);
  });

  it("is defined whole, or the part that is wrong is named", () => {
    expect(isTaskDefinition(double)).toBe(true);
    expect(double.retry).toEqual({ maxAttempts: 10, initialMs: 1_000, factor: 2, maxMs: 300_000, jitter: 0.2 });
    const wrong = (part: object) => () => defineTask({ type: "x", params: z.object({}), run: async () => null, ...part });
    expect(wrong({ type: "a b" })).toThrow(SdkError);
    expect(wrong({ retry: { maxAttempts: 0 } })).toThrow("retry.maxAttempts");
    expect(wrong({ retry: { tries: 3 } })).toThrow("retry has no tries");
    expect(wrong({ timeoutMs: 0 })).toThrow("timeoutMs");
    expect(wrong({ isolation: { runsPerSlot: 0 } })).toThrow("isolation");
    expect(wrong({ output: "text" })).toThrow("output");
    expect(wrong({ output: z3.object({}) })).toThrow("output is a schema of zod 3: zod 4 is needed");
    const emergency = { fromAttempt: 2, run: async () => null };
    expect(wrong({ emergency })).not.toThrow();
    expect(wrong({ emergency: { ...emergency, fromAttempt: 1 } })).toThrow("fromAttempt");
    expect(wrong({ emergency, retry: { maxAttempts: 1 } })).toThrow("fromAttempt");
    expect(wrong({ emergency: { fromAttempt: 2 } })).toThrow("emergency");
  });

  it.each<[StopCode, boolean]>([
    ["draining", true],
    ["restarted", true],
    ["stopped", false],
    ["failed", false],
    ["lease-lost", false],
    ["superseded", false],
  ])("shows what a service makes of one that was postponed as it was told to end: %s", async (code, isPostponed) => {
    const ending = new AbortController();
    const reason = new ObserverStopped(code);
    const task = defineTask({
      type: "x",
      params: z.object({}),
      async run({ postpone }) {
        ending.abort(reason);
        postpone(60_000);
      },
    });
    const error = await runTask(task, { signal: ending.signal }).catch((thrown: unknown) => thrown);
    expect([isTaskPostponed(error), error === reason]).toEqual([isPostponed, !isPostponed]);
  });

  it("was not postponed where its handler had asked for that, and did not end in time", async () => {
    const ending = new AbortController();
    const reason = new ObserverStopped("draining");
    const task = defineTask({
      type: "x",
      params: z.object({}),
      async run({ postpone }) {
        await Promise.allSettled([(async () => postpone(60_000))()]);
        ending.abort(reason);
        await new Promise(() => undefined);
      },
    });
    await expect(runTask(task, { signal: ending.signal })).rejects.toBe(reason);
  });

  const putOffTo = (when: unknown, swallow = false) =>
    runTask(
      defineTask({
        type: "wait",
        params: z.object({}),
        async run({ postpone }) {
          try {
            return postpone(when as number, "not yet");
          } catch (thrown) {
            if (!swallow || !isTaskPostponed(thrown)) throw thrown;
          }
          return "ignored";
        },
      }),
    );

  it.each([false, true])("shows that it was postponed (swallowed: %s)", async (swallow) => {
    const error = await putOffTo(60_000, swallow).catch((thrown: unknown) => thrown);
    expect(isTaskPostponed(error)).toBe(true);
    expect(error).toMatchObject({ postponement: { inMs: 60_000, reason: "not yet" } });
  });

  it.each([[-5], [0]])("takes what is past as now: %s", async (when) => {
    await expect(putOffTo(when)).rejects.toMatchObject({ postponement: { inMs: 0 } });
  });

  it.each([["soon"], [Number.NaN], [Number.POSITIVE_INFINITY], [400 * 86_400_000], [new Date("no")], [undefined]])(
    "says what is wrong with a time to be postponed to: %s",
    async (when) => {
      await expect(putOffTo(when)).rejects.toMatchObject({ code: "invalid-option" });
    },
  );

  it("runs its emergency handler from that attempt on", async () => {
    const task = defineTask({
      type: "x",
      params: z.object({}),
      run: async () => "first",
      emergency: { fromAttempt: 3, run: async ({ attempt }) => `second ${attempt}` },
    });
    expect(await runTask(task, { attempt: 2 })).toBe("first");
    expect(await runTask(task, { attempt: 3 })).toBe("second 3");
  });

  it("tells what it created when it has completed, and of one that fails nothing", async () => {
    const told: TaskCreation[] = [];
    const parent = defineTask({
      type: "parent",
      params: z.object({ fails: z.boolean().default(false) }),
      async run({ params: { fails }, tasks }) {
        const id = tasks.create(double, { of: 4 }, { key: "four", startAt: new Date("2026-12-01T00:00:00Z") });
        expect(() => tasks.create(double, { of: "4" as never })).toThrow(/double: \/of/);
        expect(() => tasks.create(double, { of: 1 }, { pool: "" })).toThrow("pool");
        expect(() => tasks.create(double, { of: 1 }, { pool: "no.dots" })).toThrow("pool");
        expect(() => tasks.create(double, { of: 1 }, { id: "01936f60-0b1c-0e5d-9f3a-4b6c8d0e2f41" })).toThrow("RFC 9562");
        const text = { toString: () => "01936f60-0b1c-4e5d-9f3a-4b6c8d0e2f41" };
        expect(() => tasks.create(double, { of: 1 }, { id: text as never })).toThrow("RFC 9562");
        expect(() => tasks.create(double, { of: 1 }, { pool: 5 as never })).toThrow("pool");
        const list = { key: "a", onConflict: ["return"] as never };
        expect(() => tasks.create(double, { of: 1 }, list)).toThrow("onConflict is not one of reject, return");
        expect(() => tasks.create(double, { of: 1 }, { onConflict: "return" })).toThrow("onConflict needs a key");
        expect(() => tasks.create("x", { big: 1n })).toThrow("cannot be written as JSON");
        if (fails) throw new Error("no");
        return id;
      },
    });
    const id = await runTask(parent, { onCreate: (task) => told.push(task) });
    expect(told).toEqual([{ type: "double", params: { of: 4 }, id, key: "four", startAt: "2026-12-01T00:00:00.000Z" }]);
    await expect(runTask(parent, { params: { fails: true }, onCreate: (task) => told.push(task) })).rejects.toThrow("no");
    expect(told).toHaveLength(1);
  });

  it("creates of a type without params where all of them have defaults, and by a name; what its type needs the compiler asks for", async () => {
    const eager = defineTask({ type: "eager", params: z.strictObject({ n: z.int().default(1) }), run: async () => null });
    const none = defineTask({ type: "none", params: z.strictObject({}), run: async () => null });
    const told: TaskCreation[] = [];
    const parent = defineTask({
      type: "parent",
      params: z.object({}),
      async run({ tasks }) {
        tasks.create(none);
        tasks.create(eager);
        tasks.create(eager, { n: 2 }, { priority: 1 });
        tasks.create("other");
        const wrong = [
          // @ts-expect-error it needs `of`
          () => tasks.create(double),
          // @ts-expect-error a number
          () => tasks.create(double, { of: "4" }),
          // @ts-expect-error it has no such params
          () => tasks.create(double, { of: 4, by: 1 }),
        ];
        for (const create of wrong) expect(create).toThrow(expect.objectContaining({ code: "invalid-params" }));
      },
    });
    await runTask(parent, { onCreate: (task) => told.push(task) });
    expect(told).toMatchObject([
      { params: {} },
      { params: {} },
      { params: { n: 2 }, priority: 1 },
      { type: "other", params: {} },
    ]);
  });

  it.each([false, true])("creates nothing when it has ended: nobody would know of it (failed: %s)", async (fails) => {
    let tasks: TaskCreator | undefined;
    const task = defineTask({
      type: "x",
      params: z.object({}),
      async run(ctx) {
        ({ tasks } = ctx);
        if (fails) throw new Error("no");
      },
    });
    const told: TaskCreation[] = [];
    await runTask(task, { onCreate: (creation) => told.push(creation) }).catch(() => undefined);
    expect(() => tasks?.create("x")).toThrow(expect.objectContaining({ code: "invalid-creation" }));
    expect(() => tasks?.create("x")).toThrow("the attempt has ended: await what creates");
    expect(told).toEqual([]);
  });

  it("bounds what it creates together", async () => {
    const greedy = defineTask({
      type: "greedy",
      params: z.object({}),
      async run({ tasks }) {
        for (;;) tasks.create("x", "y".repeat(200_000));
      },
    });
    await expect(runTask(greedy)).rejects.toThrow("1048576 bytes");
  });

  const sums = {
    type: "sums",
    params: z.object({ of: z.int() }),
    batch: { size: 10 },
    runBatch: async (tasks: readonly BatchedTask<{ of: number }>[]) =>
      tasks.flatMap(({ taskId, params: { of } }): BatchResult<number>[] =>
        of === 0 ? [] : of < 0 ? [{ taskId, error: new NonRetryableError("negative") }] : [{ taskId, output: of + 1 }],
      ),
  };

  it("is a batch of one where its type takes batches", async () => {
    const task = defineTask(sums);
    expect(await runTask(task, { params: { of: 2 } })).toBe(3);
    await expect(runTask(task, { params: { of: -1 } })).rejects.toThrow(NonRetryableError);
    await expect(runTask(task, { params: { of: 0 } })).rejects.toMatchObject({ code: "no-result" });
    const leaving = (result: object) =>
      runTask(
        defineTask({
          ...sums,
          runBatch: async ([one]: readonly BatchedTask[]) => [{ taskId: one?.taskId, ...result }] as never,
        }),
        { params: { of: 1 } },
      );
    await expect(leaving({ error: undefined })).rejects.toMatchObject({
      name: "NotAnError",
      message: expect.stringMatching(/undefined$/),
    });
    await expect(leaving({ error: null })).rejects.toMatchObject({ name: "NotAnError" });
    expect(await leaving({ output: 1, error: undefined })).toBe(1);
    expect(await leaving({ output: undefined, error: null })).toBe(null);
    expect(await leaving({})).toBe(null);
    const wrong = (part: object) => () => defineTask({ ...sums, ...part } as typeof sums);
    expect(wrong({ batch: { size: 101 } })).toThrow("batch is not { size");
    expect(wrong({ batch: { size: 10, maxWaitMs: 5 } })).toThrow("batch has no maxWaitMs: it takes size");
    expect(wrong({ batch: undefined })).toThrow("batch is not { size");
    expect(wrong({ runBatch: undefined })).toThrow("runBatch is not a function");
    expect(wrong({ run: async () => 1 })).toThrow("neither run nor emergency");
  });
});

it("a task whose handler is a generator has failed for good: nothing iterates it", async () => {
  const run = async function* () {
    yield 1;
  };
  const generator = defineTask({ type: "generator", params: z.object({}), run: run as never });
  await expect(runTask(generator)).rejects.toMatchObject({
    name: "NonRetryableError",
    message: expect.stringContaining("run returned an iterator, which nothing iterates"),
  });
  const list = defineTask({ type: "list", params: z.object({}), run: async () => [1] });
  expect(await runTask(list)).toEqual([1]);
});
