import { findJsonFlaws, furtherDigits, MAX_JSON_DEPTH } from "@unacked/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuMsOf } from "../../support/time/cpu-time.ts";

const flawsOf = (json: string) => findJsonFlaws(JSON.parse(json));

describe("what of a JSON value could not be kept", () => {
  it("names NUL and half surrogate pairs, in values and in keys", () => {
    expect(flawsOf(String.raw`{"a":[1,"x\u0000"],"b\u0000":1,"c":"\ud800"}`).map((flaw) => flaw.path)).toEqual([
      ["a", 1],
      ["b\0"],
      ["c"],
    ]);
    expect(flawsOf(String.raw`"\ud83d\ude00"`)).toEqual([]);
  });

  it("names a key __proto__ and a number that became infinite", () => {
    const flaws = flawsOf('{"labels":{"__proto__":"x"},"n":1e999}');
    expect(flaws).toEqual([
      { path: ["labels", "__proto__"], message: "the key __proto__ is not allowed" },
      { path: ["n"], message: "the number is too large" },
    ]);
  });

  it("names what is nested too deep, however deep it is", () => {
    const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    expect(flawsOf(nested(MAX_JSON_DEPTH))).toEqual([]);
    expect(flawsOf(nested(MAX_JSON_DEPTH + 1))).toHaveLength(1);
    expect(flawsOf(nested(100_000))).toHaveLength(1);
  });

  it("names the number with which they have more further digits together than may be, and no other", () => {
    const asked = { a: [1e308, -2.5, 7e-300], b: 5e-324, c: [1e21, 1e20, 1e-6, 0, 1e300] };
    expect(findJsonFlaws(asked)).toEqual([]);
    expect(findJsonFlaws(asked, 308 + 299 + 323 + 21 + 300)).toEqual([]);
    expect(findJsonFlaws(asked, 308 + 299 + 323 + 21 + 299)).toEqual([
      { path: ["c", 4], message: expect.stringMatching(/over 1250 digits more/) },
    ]);
    expect(findJsonFlaws(asked, 308)).toEqual([{ path: ["a", 2], message: expect.stringMatching(/over 308 digits more/) }]);
    expect([0, 1, 999_999_999_999, 1e20, 1e-6, 1e21, -1e308, 5e-324].map(furtherDigits)).toEqual([
      0, 0, 0, 0, 0, 21, 308, 323,
    ]);
  });

  it("looks at millions of values in the memory of a few, as it must not hold up all else", () => {
    const zeros = { rows: Array.from({ length: 5 }, () => Array.from({ length: 400_000 }, () => 0)) };
    const tookMs = cpuMsOf(() => expect(findJsonFlaws(zeros)).toEqual([]));
    // With a path for each it took four seconds, and as many gigabytes for a body of 32 MiB.
    expect(tookMs).toBeLessThan(2_000);
  });

  it("finds nothing in honest JSON", () => {
    const honest = fc.jsonValue({ maxDepth: 5, stringUnit: fc.constantFrom("a", "é", "😀", " ") });
    fc.assert(fc.property(honest, (value) => findJsonFlaws(value).length === 0));
  });
});
