import { ObserverName, outputKey, TypeName } from "@unacked/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const word = (letters: string, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...letters.split("")), minLength: 1, maxLength });
/** Few letters, so that keys that could be the same come up at once. */
const observer = fc.record({ type: word("a._-", 4), name: word("a._:-", 4) });

describe("the routing key of what an observer emits", () => {
  it("is <type>.<name>, as consumers have bound it, for a type without dots", () => {
    expect(outputKey("price-watch", "demo.BTC-USD")).toBe("price-watch.demo.BTC-USD");
  });

  it("tells a dot of the type from one of the name", () => {
    expect([outputKey("a.b", "c"), outputKey("a", "b.c")]).toEqual(["a:b.c", "a.b.c"]);
  });

  it("is never that of another type and name, and the type is its first word", () => {
    fc.assert(
      fc.property(observer, observer, (one, other) => {
        expect(TypeName.safeParse(one.type).success && ObserverName.safeParse(one.name).success).toBe(true);
        const key = outputKey(one.type, one.name);
        const isSame = one.type === other.type && one.name === other.name;
        expect(key === outputKey(other.type, other.name)).toBe(isSame);
        expect(key.split(".")[0]).toBe(one.type.replaceAll(".", ":"));
      }),
      { numRuns: 2_000 },
    );
  });
});
