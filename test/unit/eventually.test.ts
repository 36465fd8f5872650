import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";

test("eventually waits until the assertion holds and gives back what it returned", async () => {
  let calls = 0;
  const value = await eventually(() => {
    calls += 1;
    expect(calls).toBe(3);
    return "held";
  });
  expect(value).toBe("held");
});

test("eventually fails with what was waited for and the last error, and takes false for not yet", async () => {
  const failure = eventually(() => false, { timeoutMs: 20, what: "the moon being blue" });
  await expect(failure).rejects.toThrow("Within 60 ms, the moon being blue never held. Last: it returned false");
});
