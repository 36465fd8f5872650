import fc from "fast-check";
import { expect, test } from "vitest";
import { arrayLiteral } from "../../../services/observer-manager/src/adapters/postgres/connection/fail-fast-client.ts";

/** Halves of characters among them, which PostgreSQL takes as well as pg has it: not at all as they were. */
const text = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
const json = fc.jsonValue().map((value) => JSON.stringify(value));

test("Of any text two characters are escaped, and nothing else, as where it is JSON", () => {
  fc.assert(
    fc.property(
      fc.oneof(text, fc.string({ unit: "binary" }), json, fc.constantFrom('"\n', '\\"\ud800', '"🐇', '"\0')),
      (any) => {
        expect(arrayLiteral([any])).toBe(`{"${any.replace(/["\\]/g, "\\$&")}"}`);
      },
    ),
    { numRuns: 200 },
  );
});
