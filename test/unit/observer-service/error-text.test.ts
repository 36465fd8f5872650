import { ErrorText, MAX_STACK } from "@unacked/contracts";
import { defineObserver, runObserver } from "@unacked/sdk";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { errorText, thrownText } from "../../../services/observer-service/src/error-text.ts";
import { cpuMsOf } from "../../support/time/cpu-time.ts";

const withStack = (message: string, stack: unknown, more: object = {}) => ({ name: "Error", message, stack, ...more });

describe("what was thrown, as data", () => {
  test("has the positions of its stack, and of the message nothing a second time", () => {
    const stack = "Error: one\n    at two\n    at f (/a.ts:1:2)\n    at async /b.ts:3:4";
    expect(thrownText(withStack("one\n    at two", stack))).toEqual({
      name: "Error",
      message: "one\n    at two",
      stack: "at f (/a.ts:1:2)\nat async /b.ts:3:4",
    });
    // Its message was changed after it was made.
    expect(thrownText(withStack("while reading: one", "Error: one\n    at f (/a.ts:1:2)")).stack).toBe("at f (/a.ts:1:2)");
    expect(thrownText(withStack("", "Error\n    at f (/a.ts:1:2)")).stack).toBe("at f (/a.ts:1:2)");
    const real = new RangeError("r");
    expect(thrownText(real).stack?.split("\n")[0]).toContain("error-text.test.ts:");
  });

  test("says what caused it, as fetch says only that it failed", () => {
    const refused = new Error("connect ECONNREFUSED 127.0.0.1:9");
    const both = new AggregateError([refused, new Error("connect ECONNREFUSED ::1:9")], "");
    for (const cause of [refused, both])
      expect(errorText(new TypeError("fetch failed", { cause }))).toEqual({
        name: "TypeError",
        message: "fetch failed: connect ECONNREFUSED 127.0.0.1:9",
      });
    expect(errorText(new Error(`said: ${refused.message}`, { cause: refused })).message).toBe(`said: ${refused.message}`);
    const own: Error & { cause?: unknown } = new Error("me");
    own.cause = own;
    expect(errorText(own).message).toBe("me");
    expect(thrownText(new Error("a", { cause: refused })).stack).toMatch(/^at /);
  });

  test("calls what is no error the same, whichever way it came", async () => {
    for (const thrown of ["rejected string", { code: 7, text: "an object" }, undefined, null]) {
      const definition = defineObserver({ type: "x", params: z.object({}), run: () => Promise.reject(thrown) });
      const outcome = (await runObserver(definition).finished) as { error: Error };
      expect(thrownText(thrown)).toEqual(thrownText(outcome.error));
    }
    expect(errorText("rejected string")).toEqual({
      name: "NotAnError",
      message: "something else than an Error was thrown: rejected string",
    });
  });

  test("has none where there is none, or what is called so is no stack", () => {
    const getter = Object.defineProperty(new Error("x"), "stack", {
      get: () => {
        throw new Error("not me");
      },
    });
    for (const thrown of [undefined, "text", withStack("x", undefined), withStack("x", 7), withStack("x", "secret"), getter])
      expect(thrownText(thrown)).toEqual(errorText(thrown));
  });

  test("is read in no more than a moment, whatever was thrown has been made to look like", () => {
    const hostile = [
      withStack("x", `Error: x\n${"\n".repeat(200_000)}`),
      withStack("x", `Error: x\n${" ".repeat(200_000)}`),
      withStack("x", `Error: x\n${"    at\n".repeat(200_000)}`),
      withStack("a".repeat(2_000_000), "", { cause: withStack(`b${"a".repeat(1_000_000)}`, "") }),
    ];
    const tookMs = cpuMsOf(() => {
      for (const thrown of hostile) expect(thrownText(thrown).stack).toBeUndefined();
    });
    expect(tookMs).toBeLessThan(2_000);
  });

  test("can be sent whatever it is: whole lines within the bound, no NUL, no half of a character", () => {
    const line = (n: number) => `    at f (/a\0\ud800.ts:${n}:1)`;
    const long = thrownText(withStack("x", `Error: x\n${Array.from({ length: 2_000 }, (_, n) => line(n)).join("\n")}`));
    expect(ErrorText.parse(long)).toEqual(long);
    expect(long.stack?.length).toBeGreaterThan(MAX_STACK - 100);
    expect(long.stack).toMatch(/:1\)$/);
    expect(long.stack).not.toMatch(/[\0\ud800]/);
    expect(thrownText(withStack("x", `Error: x\n    at ${"y".repeat(100_000)}`)).stack).toBeUndefined();
  });
});
