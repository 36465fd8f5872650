import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { allInOrder } from "../../../services/observer-manager/src/operations/all-in-order.ts";

test("answers in the order in which it was asked, whichever comes first", async () => {
  expect(await allInOrder([delay(5, "first"), "second" as const, delay(1, 3)])).toEqual(["first", "second", 3]);
});

test("rejects with the first that was asked, not with the first that is told", async () => {
  const late = delay(5).then(() => Promise.reject(new Error("the value is refused")));
  const early = Promise.reject(new Error("the transaction is aborted"));
  await expect(allInOrder([delay(1), late, early])).rejects.toThrow("the value is refused");
});
