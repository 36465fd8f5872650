import { defineTask, isTaskDefinition, NonRetryableError, runTask, SdkError, sleep } from "@unacked/sdk";
import { describe, expect, it } from "vitest";
import { z } from "zod";

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
  it("gives its result, as it would be kept", async () => {
    const lines: string[] = [];
    const result = await runTask(double, { params: { of: 4 }, onLog: ({ message }) => lines.push(message) });
    expect(result).toEqual({ value: 8 });
    expect(lines).toEqual(["doubling"]);
  });

  it("rejects as its attempt fails", async () => {
    await expect(runTask(double, { params: { of: -1 } })).rejects.toThrow(NonRetryableError);
    await expect(runTask(double, { params: { of: "1" } })).rejects.toMatchObject({ code: "invalid-params" });
    await expect(runTask(double, { params: { of: 13 } })).rejects.toMatchObject({ code: "invalid-output" });
    await expect(runTask(double, { params: { of: 1, ms: 60_000 } })).rejects.toMatchObject({ code: "failed" });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(runTask(double, { params: { of: 1 }, signal })).rejects.toThrow("enough");
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
  });
});
