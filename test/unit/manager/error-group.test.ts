import { describe, expect, it } from "vitest";
import { errorGroupOf } from "../../../services/observer-manager/src/domain/errors/error-group.ts";

describe("the group of an error", () => {
  it.each([
    ["connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED <n>"],
    ["no answer from 0190b7c8-1111-7000-8000-00000000000A in 1500 ms", "no answer from <uuid> in <n> ms"],
    ["order 17: price 1.5 at 12:30:05.123", "order <n>: price <n> at <n>"],
    ["at 0xDEADBEEF, commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "at <hex>, commit <hex>"],
    ["deadbeef and 1234567890 are a word and a number", "deadbeef and <n> are a word and a number"],
    ["two\n  lines\t here ", "two lines here"],
    ["", "(no text)"],
  ])("of %j is %j", (text, group) => {
    expect(errorGroupOf(text)).toBe(group);
  });

  it("is the same when it is taken again, and short whatever the text", () => {
    for (const text of ["x".repeat(100_000), "1 ".repeat(50_000), `${"a".repeat(199)}\u{1F600}`, "a1".repeat(50_000)]) {
      const group = errorGroupOf(text);
      expect(group.length).toBeLessThanOrEqual(200);
      expect(errorGroupOf(group)).toBe(group);
      expect(Buffer.from(group).toString()).toBe(group);
    }
  });
});
