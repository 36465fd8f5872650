import { defineObserver } from "@unacked/sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { catalogueOf, describeType } from "../../../services/observer-service/src/slot/type-catalogue.ts";

const typeWith = (type: string, chars: number) =>
  defineObserver({
    type,
    params: z.object({ text: z.string().describe("x".repeat(chars)) }),
    run: async () => undefined,
  });

test("Types whose schemas are too much together, or alone, are announced as types that accept everything, and it is told why", () => {
  const many = Array.from({ length: 12 }, (_, place) => describeType(typeWith(`t${place}`, 200_000)));
  const { types, unannounced } = catalogueOf([...many, describeType(typeWith("long", 300_000))]);
  expect(types).toHaveLength(13);
  expect(JSON.stringify(types).length).toBeLessThan(2_200_000);
  expect(types.filter(({ paramsSchema }) => Object.keys(paramsSchema).length > 0)).toHaveLength(10);
  expect(unannounced.map(({ type }) => type)).toEqual(["t10", "t11", "long"]);
});

test("So it is with the schemas of what they save, and it is bytes that count", () => {
  const saving = (type: string, text: string) =>
    defineObserver({
      type,
      params: z.object({}),
      checkpoint: z.object({ text: z.string().describe(text) }),
      run: async () => undefined,
    });
  const many = (text: string) => Array.from({ length: 40 }, (_, place) => describeType(saving(`t${place}`, text)));
  for (const text of ["x".repeat(250_000), "\u3042".repeat(83_000)]) {
    const { types, unannounced } = catalogueOf(many(text));
    expect(Buffer.byteLength(JSON.stringify(types))).toBeLessThan(3 * 1_048_576);
    // Absent, it would say that they save nothing.
    expect(types.every(({ checkpointSchema }) => checkpointSchema !== undefined)).toBe(true);
    expect([types[7]?.checkpointSchema?.["type"], types[8]?.checkpointSchema]).toEqual(["object", {}]);
    expect(unannounced).toHaveLength(32);
  }
  const { types, unannounced } = catalogueOf([describeType(saving("long", "x".repeat(300_000)))]);
  expect(types[0]?.checkpointSchema).toEqual({});
  expect(unannounced).toMatchObject([{ type: "long", reason: expect.stringContaining("may have 262144") }]);
});

test("What a type asks for is checked as its file is loaded, too: it may have been defined by an older SDK", () => {
  const made = typeWith("t", 1);
  const older = Object.create(made, { silence: { value: { warnAfterMs: 2 ** 40 } } }) as typeof made;
  expect(() => describeType(older)).toThrow("type t: silence.warnAfterMs is not a whole number from 1000");
});
