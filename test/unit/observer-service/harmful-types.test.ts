import { expect, test } from "vitest";
import { HarmfulTypes } from "../../../services/observer-service/src/keeper/slots/blame/harmful-types.ts";

const MINUTES = 60_000;

test("a type is harmful from its third culprit within ten minutes on, and for ten minutes after its last", () => {
  const types = new HarmfulTypes();
  expect(types.note("resize", "a", 0)).toBe(false);
  expect(types.note("resize", "b", 9 * MINUTES)).toBe(false);
  expect(types.note("resize", "c", 10 * MINUTES)).toBe(false); // the first was too long ago
  expect(types.has("resize", 10 * MINUTES)).toBe(false);
  expect(types.note("resize", "d", 11 * MINUTES)).toBe(true);
  expect(types.has("resize", 11 * MINUTES)).toBe(true);
  expect(types.note("resize", "e", 15 * MINUTES)).toBe(false); // that is no news
  expect([types.has("resize", 24 * MINUTES), types.has("resize", 25 * MINUTES)]).toEqual([true, false]);
  expect(types.has("mail", 15 * MINUTES)).toBe(false);
});

test("one task that does it again and again is one", () => {
  const types = new HarmfulTypes();
  for (const taskId of ["a", "b", "a", "b", "a"]) expect(types.note("resize", taskId, 0)).toBe(false);
  expect(types.note("resize", "c", 0)).toBe(true);
});
