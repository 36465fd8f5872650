import { expect, test } from "vitest";
import { FailTogether } from "../../../services/observer-service/src/service/fail-together.ts";

/** Services that note what they fail of, and pass on what is their own. */
function several(count: number) {
  const exits: number[] = [];
  const together = new FailTogether((code) => void exits.push(code));
  const failed: string[][] = Array.from({ length: count }, () => []);
  together.all = failed.map((errors) => ({
    fail: (error: unknown) => {
      errors.push(String(error));
      if (errors.length === 1) together.onFail(error);
      return Promise.resolve();
    },
  }));
  return { together, failed, exits };
}

test("what fails one fails each of them once, and the process ends with the last one's farewell", () => {
  const { together, failed, exits } = several(3);
  together.onFail("broken");
  expect(failed).toEqual([["broken"], ["broken"], ["broken"]]);
  together.onFailed();
  together.onFailed();
  expect(exits).toEqual([]);
  together.onFailed();
  expect(exits).toEqual([1]);
});

test("one that fails of itself takes the others with it", async () => {
  const { together, failed } = several(2);
  await together.all[1]?.fail("its own");
  expect(failed[0]).toEqual(["its own"]);
  expect(failed[1]?.length).toBeLessThanOrEqual(2);
});

test("before any is open the process ends at once", () => {
  const { together, exits } = several(0);
  together.onFail("early");
  expect(exits).toEqual([1]);
});

test("who drains is told that it fails, and leaves the end of the process to it", () => {
  const { together } = several(1);
  expect(together.isFailing).toBe(false);
  together.onFail("broken");
  expect(together.isFailing).toBe(true);
});
