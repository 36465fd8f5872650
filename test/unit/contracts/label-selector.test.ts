import { Labels, parseLabelSelector } from "@unacked/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const text = fc.string({ unit: fc.constantFrom(..."a:=._-, ".split("")), maxLength: 6 });

describe("a label that a list is filtered by", () => {
  it.each([
    ["team=a", { key: "team", value: "a" }],
    ["team:a", { key: "team", value: "a" }],
    ["a:b=c:d", { key: "a:b", value: "c:d" }],
    ["a:b:c", { key: "a", value: "b:c" }],
    ["team", undefined],
    ["team=", undefined],
    ["=a", undefined],
    ["a=b=c", undefined],
    ["__proto__=a", undefined],
  ])("%s", (given, expected) => expect(parseLabelSelector(given)).toEqual(expected));

  it("is one that an observer may have, and any that one may have can be written", () => {
    fc.assert(
      fc.property(text, text, (key, value) => {
        const read = parseLabelSelector(`${key}=${value}`);
        const isLabel = Labels.safeParse({ [key]: value }).success;
        expect(read).toEqual(isLabel && !/=/.test(key + value) ? { key, value } : undefined);
      }),
    );
  });
});
