import { setImmediate } from "node:timers/promises";
import { defineObserver } from "@unacked/sdk";
import { paramsIssuesText, paramsJsonSchema, parseParams } from "@unacked/sdk/host";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { checkParams } from "../../../services/observer-manager/src/domain/types/params-check.ts";
import { inTurn } from "../../support/runs/turns.ts";
import { cpuMsOf } from "../../support/time/cpu-time.ts";

const definition = defineObserver({
  type: "words",
  params: z.strictObject({
    everyMs: z.int().min(10).default(1_000),
    url: z.string().max(20),
    mode: z.enum(["fast", "slow"]).optional(),
    list: z.array(z.string()).optional(),
    "a/b": z.strictObject({ deep: z.boolean() }).optional(),
    source: z.url().optional(),
  }),
  run: async () => undefined,
});
const { schema } = paramsJsonSchema(definition);

describe("params that are wrong", () => {
  test.each([
    [{ url: "x", colour: 1 }],
    [{ url: "x", everyMs: 5 }],
    [{ url: "x", everyMs: "often" }],
    [{}],
    [{ url: "x".repeat(21), mode: "slowly" }],
    [{ url: "x", list: [1, "a", null] }],
    [{ url: "x", "a/b": { deep: 1, deeper: 2 } }],
    [{ url: "x", source: "not a url" }],
    [{ url: "x", source: "/relative" }],
    [[]],
    [null],
  ])("are told by the manager in the words of the service: %j", (params) => {
    const asked = checkParams({ ...schema }, params).map(({ pointer = "", message }) => ({ pointer, message }));
    const parsed = parseParams(definition, params);
    if (parsed.ok) throw new Error("they are right");
    expect(asked).toEqual(parsed.issues.map(({ pointer, message }) => ({ pointer: `/params${pointer}`, message })));
    expect(paramsIssuesText(parsed.issues)).not.toMatch(/must (?:not|be|have)/i);
  });

  test("that are unknown are named each: there is no such param", () => {
    expect(checkParams({ ...schema }, { url: "x", one: 1, two: 2 })).toEqual([
      { pointer: "/params/one", message: "there is no such param" },
      { pointer: "/params/two", message: "there is no such param" },
    ]);
  });

  test.each(["https://exämple.com/ü?a=b c", "wss://[::1]:9443", "urn:isbn:0451450523", " https://a.example "])(
    "are not these: a URL that the service takes (%s)",
    (source) => {
      expect(parseParams(definition, { url: "x", source })).toMatchObject({ ok: true });
      expect(checkParams({ ...schema }, { url: "x", source })).toEqual([]);
    },
  );

  test("are not those that only a format forbids which another names otherwise", () => {
    const formats = { type: "object", properties: { at: { type: "string", format: "date-time" }, by: { format: "jwt" } } };
    expect(checkParams(formats, { at: "2026-11-24 16:00", by: "nobody" })).toEqual([]);
  });

  test("are told somehow, where a schema says what only JSON Schema can say; one that is broken takes everything", () => {
    const onlyThere = { type: "object", dependentRequired: { a: ["b"] } };
    expect(checkParams(onlyThere, { a: 1 })).toEqual([{ pointer: "/params/b", message: expect.any(String) }]);
    expect(checkParams({ type: "no such type" }, { a: 1 })).toEqual([]);
  });
});

describe("a schema that some service says its type has", () => {
  const some = "a".repeat(40);
  const list = Array.from({ length: 100_000 }, (_, i) => ({ i }));
  /** What comes next, two times: 2^60 at last. */
  const twice = (i: number) => ({ anyOf: Array.from({ length: 2 }, () => (i < 60 ? { $ref: `#/$defs/d${i}` } : false)) });

  test("and that goes round in circles accepts everything: the service will check", () => {
    expect(checkParams({ $ref: "#" }, { deep: 1 })).toEqual([]);
  });

  test("and that asks for a check by a promise is held to as any other: nobody would hear its rejection", () => {
    const schema = { $async: true, type: "object", required: ["name"] };
    expect(checkParams(schema, {})).toMatchObject([{ pointer: "/params/name" }]);
    expect(checkParams({ ...schema, $async: "yes" }, {})).toMatchObject([{ pointer: "/params/name" }]);
    expect(checkParams(schema, { name: 1 })).toEqual([]);
    const named = { properties: { $async: { type: "string" } }, additionalProperties: false };
    expect(checkParams(named, { $async: 1 })).toMatchObject([{ pointer: "/params/$async" }]);
  });

  /** Rejects all objects; as a promise, where that is not held back. */
  const byPromise = { $async: true, required: ["no such"] };
  test.each<[string, object]>([
    ["in it", { properties: { x: byPromise } }],
    ["by its place", { $defs: { a: byPromise }, properties: { x: { $ref: "#/$defs/a" } } }],
    ["by its name", { $defs: { a: { $id: "urn:a", ...byPromise } }, properties: { x: { $ref: "urn:a" } } }],
    ["by its anchor", { $defs: { a: { $anchor: "a", ...byPromise } }, properties: { x: { $ref: "#a" } } }],
    ["by one that moves", { $defs: { a: { $dynamicAnchor: "a", ...byPromise } }, properties: { x: { $dynamicRef: "#a" } } }],
    ["in one with a name", { $ref: "urn:b", $defs: { b: { $id: "urn:b", properties: { x: byPromise } } } }],
    ["of another's meta-schema", { $ref: "urn:c", $defs: { c: { $id: "urn:c", $schema: "urn:d", ...byPromise } } }],
  ])("and of which a part asks for that accepts everything: the service will check (%s)", async (_, schema) => {
    const unheard: unknown[] = [];
    const hear = (reason: unknown) => unheard.push(reason);
    process.on("unhandledRejection", hear);
    onTestFinished(() => void process.off("unhandledRejection", hear));
    expect(checkParams({ ...schema }, { x: {} })).toEqual([]);
    await setImmediate();
    expect(unheard).toEqual([]);
  });

  test.each<[string, object]>([
    ["names itself wherever it is", { $dynamicAnchor: "it", allOf: [{ $dynamicRef: "#it" }, { $dynamicRef: "#it" }] }],
    ["is to be fetched", { $ref: "https://example.com/schema.json" }],
    ["is in the params", { properties: { x: { maximum: { $data: "1/y" } } } }],
  ])("and that %s accepts everything", (_, schema) => {
    expect(checkParams({ ...schema }, { x: 5, y: 1 })).toEqual([]);
  });

  test.each(
    inTurn<[string, object]>([
      ["by an expression for a param", { properties: { url: { pattern: "^(.|.)*\\u0000$" } } }],
      ["by one for any other", { additionalProperties: { pattern: "^(.|.)*\\u0000$" } }],
      ["by one for their names", { patternProperties: { "^(.|.)*\\u0000$": { type: "number" } } }],
      [
        "as its parts name each other",
        { $defs: Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`d${i}`, twice(i + 1)])), ...twice(0) },
      ],
      ["as each item is compared with each", { properties: { list: { uniqueItems: true } } }],
    ]),
  )("and that would take for ever holds nobody up for longer than a moment: %s", (_, schema) => {
    const params = { url: some, [some]: some, list };
    const beganAtMs = performance.now();
    for (let i = 0; i < 20; i += 1) expect(checkParams({ ...schema }, params)).toEqual([]);
    expect(performance.now() - beganAtMs).toBeLessThan(30_000); // each would take weeks
  });

  test.each([
    ["many parts", { enum: Array.from({ length: 900 }, () => [1]) }, 2_000],
    ["some", { anyOf: ["string", "null", "boolean"].map((type) => ({ type })) }, 130_000],
  ])("holds nobody up for longer than a moment where each of many values is held against %s", (_, items, count) => {
    const schema = { type: "object", properties: { list: { type: "array", items } } };
    const tookMs = cpuMsOf(() => checkParams(schema, { list: Array.from({ length: count }, () => 0) }));
    expect(tookMs).toBeLessThan(2_000); // a quarter of a second, and what compiling takes at first
    expect(checkParams(schema, { list: [0] }).length).toBeGreaterThan(0);
  });

  test("and that takes a minute to be compiled is not, and those after it are", () => {
    let tree: object = { type: "string" };
    for (let i = 0; i < 16; i += 1) tree = { anyOf: [tree, tree] };
    expect(checkParams({ properties: { name: tree } }, { name: 5 })).toEqual([]);
    expect(checkParams({ properties: { later: { type: "string" } } }, { later: 5 })).toMatchObject([
      { pointer: "/params/later" },
    ]);
  });

  test("and whose expression is honest is held to", () => {
    const schema = { type: "object", properties: { name: { type: "string", pattern: "^[a-z]+$" } } };
    expect(checkParams(schema, { name: "abc" })).toEqual([]);
    expect(checkParams(schema, { name: "ABC" })).toMatchObject([{ pointer: "/params/name" }]);
  });
});
