import { setImmediate as setImmediateForReal } from "node:timers";
import { ObserverStopped } from "@unacked/sdk";
import { createRunContext, type RunContextParts, readCheckpoint } from "@unacked/sdk/host";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

type Saver = { emit(event: unknown): Promise<void>; saveCheckpoint(value: number): Promise<void> };

/** A run whose emits are confirmed by hand. */
function run(save?: () => Promise<void>, stopTimeoutMs = 40) {
  const saved: string[] = [];
  const confirms: { resolve(): void; reject(error: Error): void }[] = [];
  const parts = {
    params: {},
    observer: { id: "o", name: "o", type: "t", labels: {} },
    runId: "r",
    fencingToken: 1,
    saves: {
      schema: z.number(),
      everyMs: 0,
      checkpoint: undefined,
      save: (json: string) => {
        saved.push(json);
        return save?.() ?? Promise.resolve();
      },
    },
    stopTimeoutMs,
    writeLog: () => undefined,
    publish: () => new Promise<void>((resolve, reject) => void confirms.push({ resolve, reject })),
  } as unknown as RunContextParts<object>;
  const created = createRunContext(parts);
  const context = created.context as unknown as Saver;
  return { context, stop: created.stop.bind(created), end: created.end.bind(created), saved, confirms };
}
const turns = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("a save goes behind what was emitted before it", () => {
  it("also behind what the save before it waits for, and not behind what came later", async () => {
    const { context, saved, confirms } = run();
    void context.emit(1);
    void context.saveCheckpoint(1);
    void context.emit(2);
    void context.saveCheckpoint(2);
    void context.emit(3);
    await turns();
    expect(saved).toEqual([]);
    confirms[1]?.resolve();
    await turns();
    expect(saved).toEqual([]);
    confirms[0]?.resolve();
    await turns();
    expect(saved).toEqual(["1", "2"]);
  });

  it("and rejects where some of that was not confirmed, as do those that were asked for while it waited; not the next", async () => {
    const { context, saved, confirms } = run();
    void context.emit(1).catch(() => undefined);
    const first = context.saveCheckpoint(1);
    const second = context.saveCheckpoint(2);
    void context.emit(2);
    const third = context.saveCheckpoint(3);
    const outcomes = Promise.allSettled([first, second, third]);
    confirms[1]?.resolve();
    confirms[0]?.reject(new Error("not confirmed"));
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(saved).toEqual([]);
    await context.saveCheckpoint(4);
    expect(saved).toEqual(["4"]);
  });

  it("at a cost that does not grow with what waits for a broker that stands still", async () => {
    const { context, confirms, saved } = run();
    const beforeMib = process.memoryUsage().heapUsed / 1_048_576;
    const count = 5_000;
    for (let n = 1; n <= count; n += 1) {
      void context.emit(n);
      void context.saveCheckpoint(n);
    }
    await turns();
    // Looking at all of them for each was 12.5 million reactions: more than 500 MiB.
    expect(process.memoryUsage().heapUsed / 1_048_576 - beforeMib).toBeLessThan(200);
    for (const { resolve } of confirms) resolve();
    await turns();
    expect(saved).toEqual(["1", String(count)]);
  });
});

describe("what waits behind a save that is under way", () => {
  it("waits together, and costs no more than one; what is refused is so alone", async () => {
    let confirm: () => void = () => undefined;
    const { context, saved } = run(() => new Promise((resolve) => (confirm = resolve)));
    const first = context.saveCheckpoint(0);
    await turns();
    const waiting = new Set(Array.from({ length: 10_000 }, (_, n) => context.saveCheckpoint(n)));
    await expect(context.saveCheckpoint("x" as never)).rejects.toMatchObject({ code: "invalid-checkpoint" });
    expect(waiting.add(context.saveCheckpoint(10_000)).size).toBe(1);
    confirm();
    await first;
    await turns();
    expect(saved).toEqual(["0", "10000"]);
    confirm();
    await Promise.all(waiting);
  });

  it("costs nothing where nothing was emitted", async () => {
    const { context } = run(() => new Promise(() => undefined));
    void context.saveCheckpoint(0);
    await turns();
    const beforeMib = process.memoryUsage().heapUsed / 1_048_576;
    for (let n = 0; n < 100_000; n += 1) void context.saveCheckpoint(n);
    await turns();
    // 1.6 KB each were 160 MiB.
    expect(process.memoryUsage().heapUsed / 1_048_576 - beforeMib).toBeLessThan(60);
  });

  it("goes behind what is emitted between one call and the next", async () => {
    let confirm: () => void = () => undefined;
    const { context, saved, confirms } = run(() => new Promise((resolve) => (confirm = resolve)));
    void context.saveCheckpoint(0);
    await turns();
    void context.saveCheckpoint(1);
    void context.emit(1);
    void context.saveCheckpoint(2);
    confirm();
    await turns();
    expect(saved).toEqual(["0"]);
    confirms[0]?.resolve();
    await turns();
    expect(saved).toEqual(["0", "2"]);
  });
});

describe("what the next run could not start with", () => {
  const saves = (schema: z.ZodType) => ({ schema, everyMs: 0, checkpoint: undefined, save: () => Promise.resolve() });
  const contextOf = (schema: z.ZodType) => {
    const parts = { params: {}, observer: {}, runId: "r", fencingToken: 1, stopTimeoutMs: 40, writeLog: () => undefined };
    return createRunContext({ ...parts, saves: saves(schema) } as never).context as unknown as {
      saveCheckpoint(value: unknown): Promise<void>;
    };
  };

  it("is not saved: a Date is a text by then, which a schema of Dates alone does not take", async () => {
    const { saveCheckpoint } = contextOf(z.strictObject({ until: z.date() }));
    await expect(saveCheckpoint({ until: new Date() })).rejects.toMatchObject({
      code: "invalid-checkpoint",
      message: expect.stringContaining("when it has been JSON"),
    });
  });

  const circular: { self?: unknown } = {};
  circular.self = circular;
  const asks = z.unknown().refine(async () => true);
  const throws = z.unknown().refine(() => {
    throw new RangeError("not today");
  });
  it.each<[string, z.ZodType, unknown]>([
    ["a bigint", z.unknown(), 1n],
    ["a circle", z.unknown(), circular],
    ["what its schema asks others about", asks, 1],
    ["what its schema throws at", throws, 1],
  ])("is not saved, and says why: %s", async (_, schema, value) => {
    const refusal = { name: "SdkError", code: "invalid-checkpoint", cause: expect.any(Error) };
    await expect(contextOf(schema).saveCheckpoint(value)).rejects.toMatchObject(refusal);
  });

  it("is told in one line, place by place, as params are; so is what a run is to start with", async () => {
    const schema = z.strictObject({ until: z.date(), lines: z.array(z.int()) });
    const { saveCheckpoint } = contextOf(schema);
    const until = new Date();
    const text = /^the checkpoint [^\n]* \/lines\/0: Invalid input: [^\n]*; \/more: there is no such field$/;
    await expect(saveCheckpoint({ until, lines: ["x"], more: 1 })).rejects.toThrow(text);
    await expect(saveCheckpoint({ until, lines: [] })).rejects.toThrow(/: \/until: Invalid input: [^\n]*$/);
    const json = JSON.stringify({ until, lines: ["x"], more: 1 });
    expect(() => readCheckpoint(schema, json)).toThrow(text);
  });

  it("is told from what it can: a schema that takes both", async () => {
    await contextOf(z.strictObject({ until: z.coerce.date() })).saveCheckpoint({ until: new Date() });
  });
});

describe("a stop while the broker takes nothing", () => {
  it("gives up what was emitted and what is saved behind it, so that the run can end", async () => {
    const { context, stop, end, saved } = run();
    const emitted = context.emit(1);
    const behind = context.saveCheckpoint(1);
    const reason = new ObserverStopped("draining");
    stop(reason);
    await expect(emitted).rejects.toBe(reason);
    await expect(behind).rejects.toBe(reason);
    await end();
    expect(saved).toEqual([]);
  });

  it("gives up waiting for a save that is on its way, which may be confirmed later", async () => {
    const { context, stop, end, saved } = run(() => new Promise(() => undefined));
    const first = context.saveCheckpoint(1);
    const second = context.saveCheckpoint(2);
    const reason = new ObserverStopped("draining");
    stop(reason);
    await expect(first).rejects.toBe(reason);
    await expect(second).rejects.toBe(reason);
    await end();
    expect(saved).toEqual(["1", "2"]);
  });
});

describe("goodbyes one after another", () => {
  afterEach(() => void vi.useRealTimers());

  it("are given their own time, also those that wait for what was given up before", async () => {
    vi.useFakeTimers();
    const { context, stop } = run(() => new Promise(() => undefined));
    const waiting = Promise.allSettled([context.saveCheckpoint(1), context.saveCheckpoint(2)]);
    stop(new ObserverStopped("stopped"));
    await vi.advanceTimersByTimeAsync(20);
    await waiting;
    const told: string[] = [];
    const last = context.saveCheckpoint(3).catch(() => void told.push("given up"));
    await vi.advanceTimersByTimeAsync(9);
    await new Promise((resolve) => setImmediateForReal(resolve));
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await last;
    expect(told).toEqual(["given up"]);
  });

  it("are given their own time, also those that wait with what was asked for before the stop, and take none from that", async () => {
    vi.useFakeTimers();
    const confirms: (() => void)[] = [];
    const { context, stop, saved } = run(() => new Promise((resolve) => void confirms.push(resolve)), 1_000);
    const before = [context.saveCheckpoint(1), context.saveCheckpoint(2)];
    for (const each of before) each.catch(() => undefined);
    stop(new ObserverStopped("stopped"));
    await vi.advanceTimersByTimeAsync(480);
    const [last, ...others] = new Set(Array.from({ length: 1_000 }, () => context.saveCheckpoint(3)));
    expect(others).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    await new Promise((resolve) => setImmediateForReal(resolve));
    // Theirs was half of the whole, whatever came later.
    for (const each of before) await expect(each).rejects.toMatchObject({ code: "stopped" });
    confirms[0]?.();
    await vi.advanceTimersByTimeAsync(100);
    confirms[1]?.();
    await last;
    expect(saved).toEqual(["1", "3"]);
  });

  it("never take as long as the handler has: each is given half of what is left", async () => {
    vi.useFakeTimers();
    const { context, stop } = run();
    stop(new ObserverStopped("stopped"));
    for (const givenMs of [20, 10, 5]) {
      const outcome = expect(context.emit(givenMs)).rejects.toMatchObject({ code: "stopped" });
      await vi.advanceTimersByTimeAsync(givenMs);
      await outcome;
    }
  });
});
