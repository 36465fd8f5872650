import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonMistake } from "../../../services/observer-manager/src/domain/json-mistake.ts";

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe("where a text stops being JSON", () => {
  test.each([
    ['{"name": "a",\n "type": }', 'line 2, column 10: expected a value, found "}"'],
    ['{"name": "a",\n}', 'line 2, column 1: expected a name in double quotes, found "}"'],
    ["{name: 1}", 'line 1, column 2: expected a name in double quotes or "}", found "name"'],
    ["{'name': 1}", 'line 1, column 2: expected a name in double quotes or "}", found "\'name\'"'],
    ['{"a" 1}', 'line 1, column 6: expected ":", found "1"'],
    ['{"a": 1 "b": 2}', 'line 1, column 9: expected "," or "}", found "\\""'],
    ["[1 2]", 'line 1, column 4: expected "," or "]", found "2"'],
    ["[1, NaN]", 'line 1, column 5: expected a value, found "NaN"'],
    ["[01]", 'line 1, column 3: expected "," or "]", found "1"'],
    ['{"a": "b', "line 1, column 9: expected a closing double quote, found the end"],
    ['{"a": "b\nc"}', "line 1, column 9: expected a closing double quote, found the end of the line"],
    ['["💥", "\\x"]', 'line 1, column 8: expected an escape that JSON knows, as \\n or \\", found "\\\\"'],
    ["{", 'line 1, column 2: expected a name in double quotes or "}", found the end'],
    ["{} {}", 'line 1, column 4: expected the end, found "{"'],
    [" ", "line 1, column 2: expected a value, found the end"],
  ])("%j", (text, mistake) => {
    expect(isJson(text)).toBe(false);
    expect(jsonMistake(text)).toBe(mistake);
  });

  test("is found in just those texts that JSON.parse refuses, whatever they are", () => {
    const pieces = fc.constantFrom(
      ...Array.from('{}[],:"\\ \n0123.eE+-'),
      '"a"',
      "true",
      "null",
      "1.5e-7",
      '"\\u00e9"',
      '"\\n"',
      "\u00a0",
    );
    const broken = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(""));
    const damaged = fc
      .tuple(fc.json(), fc.nat(), pieces)
      .map(
        ([text, place, piece]) => text.slice(0, place % (text.length + 1)) + piece + text.slice(place % (text.length + 1)),
      );
    fc.assert(
      fc.property(fc.oneof(fc.json(), broken, damaged), (text) => {
        expect(jsonMistake(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: 5_000 },
    );
  });

  test("is found in a text of any depth and length", () => {
    expect(jsonMistake("[".repeat(200_000))).toMatch(/^line 1, column 200001: expected a value or "\]"/);
    expect(jsonMistake(`"${"x".repeat(5_000_000)}`)).toContain("expected a closing double quote");
    expect(jsonMistake("[".repeat(30_000_000))).toBeUndefined();
  });
});
