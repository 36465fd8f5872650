import { expect, test } from "vitest";
import { jsonWeight } from "../../../services/observer-manager/src/domain/json-weight.ts";

const weigh = (text: string) => jsonWeight(Buffer.from(text));

test("Values weigh more than their text; what stands in a text is none", () => {
  expect(weigh("[1,2]")).toBe(64 + 24 + 5 * 3);
  expect(weigh('{"a":{},"b":1}')).toBe(2 * 192 + 2 * 40 + 24 + 14 * 3);
  expect(weigh('"[1,2]{:}"')).toBe(10 * 3);
  expect(weigh('"\\"[\\\\",[')).toBe(64 + 24 + 9 * 3);
});

test("Texts count by their characters in UTF-16, and twice where one of them needs two bytes", () => {
  expect(weigh('"é"')).toBe(3 * 3);
  expect(weigh('"€x"')).toBe(4 * 6);
  expect(weigh('"🙂"')).toBe(4 * 6);
  expect(weigh('"\\u20ac"')).toBe(8 * 6);
  expect(weigh('"\\u00e9"')).toBe(8 * 3);
});

test("What is nested too deeply to be parsed has no weight", () => {
  expect(weigh("[".repeat(65_536) + "]".repeat(65_536))).toBe(65_536 * (64 + 2 * 3));
  expect(weigh("[".repeat(65_537))).toBeUndefined();
  expect(weigh('{"a":'.repeat(65_537))).toBeUndefined();
  expect(weigh(`"${"[".repeat(70_000)}"`)).toBe(70_002 * 3);
});

test("What is no JSON is weighed, too", () => {
  expect(weigh("")).toBe(0);
  expect(weigh('"never ends \\')).toBe(13 * 3);
  expect(weigh("]]}")).toBe(9);
});
