import { defineObserver, type ObserverDefinition, type ObserverDraft, runObserver } from "@unacked/sdk";
import { isObserverDefinition, paramsIssuesText, paramsJsonSchema, parseParams, unknownFieldsOf } from "@unacked/sdk/host";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { z as z3 } from "zod/v3";

const draft = {
  type: "price-watch",
  params: z.strictObject({
    movePercent: z.number().positive(),
    limits: z.array(z.object({ "a/b": z.string() })).default([]),
  }),
  run: async () => {},
};

test("a definition is frozen, and recognised by its brand, not by its looks", () => {
  const definition = defineObserver(draft);
  expect(Object.isFrozen(definition)).toBe(true);
  expect(isObserverDefinition(definition)).toBe(true);
  expect(isObserverDefinition({ ...definition })).toBe(false);
  expect(isObserverDefinition(undefined)).toBe(false);
});

test("a definition made by another copy of the package is recognised too", () => {
  const foreign = { type: "x" };
  Object.defineProperty(foreign, Symbol.for("unacked.observer-definition"), { value: 1 });
  expect(isObserverDefinition(foreign)).toBe(true);
});

test.each(["", "a b", "ä", "x".repeat(65), "a/b", 7])("the type %j is refused with its code", (type) => {
  expect(() => defineObserver({ ...draft, type: type as string })).toThrow(
    expect.objectContaining({ code: "invalid-type" }),
  );
});

test.each<[string, object, RegExp]>([
  ["params that are no schema", { params: { movePercent: 1 } }, /params is not a zod schema/],
  ["params of zod 3", { params: z3.object({}) }, /params is a schema of zod 3: zod 4 is needed/],
  ["a checkpoint of zod 3", { start: "admitted", checkpoint: z3.object({}) }, /checkpoint is a schema of zod 3/],
  ["no run", { run: undefined }, /run is not a function/],
  ["a description that is no text", { description: 7 }, /description/],
])("%s: the definition is refused, naming the part", (_, wrong, message) => {
  const wrongDraft = { ...draft, ...wrong } as ObserverDraft<z.ZodType>;
  expect(() => defineObserver(wrongDraft)).toThrow(
    expect.objectContaining({ code: "invalid-definition", message: expect.stringMatching(message) }),
  );
});

test("a URL whose protocol or host is refused is told with what is wrong with it", () => {
  const params = z.object({ url: z.url({ protocol: /^wss?$/, hostname: /\.example$/ }) });
  expect(parseParams({ params }, { url: "http://feed.example" })).toEqual({
    ok: false,
    issues: [{ pointer: "/url", message: "Invalid URL (Invalid protocol: must match ^wss?$)" }],
  });
  expect(parseParams({ params }, { url: "feed" })).toEqual({
    ok: false,
    issues: [{ pointer: "/url", message: "Invalid URL" }],
  });
});

test("fields that mean nothing are remembered, for its author to be told; they refuse nothing, as `this` may have them", () => {
  expect(unknownFieldsOf(defineObserver({ ...draft, descripton: "x", retry: { maxAttempts: 3 } } as never))).toEqual([
    "descripton",
    "retry",
  ]);
  const known = {
    description: "x",
    isolation: {},
    silence: {},
    start: "admitted",
    checkpoint: z.int(),
    onUpdate: () => "applied",
  };
  expect(unknownFieldsOf(defineObserver({ ...draft, ...known } as never))).toEqual([]);
});

test("what asks before it starts has a fencing token in its type, also where onUpdate alone makes it ask", async () => {
  const params = z.strictObject({ of: z.int().default(1) });
  const seen: number[] = [];
  const updatable = defineObserver({
    type: "updatable",
    params,
    onUpdate: (next, ctx) => {
      expectTypeOf(next).toEqualTypeOf<{ of: number }>();
      expectTypeOf(ctx.fencingToken).toBeNumber();
      return "applied";
    },
    async run(ctx) {
      expectTypeOf(ctx.params).toEqualTypeOf<{ of: number }>();
      expectTypeOf(ctx.fencingToken).toBeNumber();
      seen.push(ctx.fencingToken);
    },
  });
  expectTypeOf(updatable).toEqualTypeOf<ObserverDefinition<{ of: number }>>();
  await runObserver(updatable, { fencingToken: 7 }).finished;
  expect(seen).toEqual([7]);
  defineObserver({
    type: "both",
    params,
    checkpoint: z.object({ at: z.int() }),
    onUpdate: () => "restart",
    async run({ fencingToken, checkpoint, saveCheckpoint }) {
      expectTypeOf(fencingToken).toBeNumber();
      await saveCheckpoint({ at: checkpoint?.at ?? 0 });
    },
  });
  defineObserver({
    type: "at-once",
    params,
    async run(ctx) {
      // @ts-expect-error none has admitted it
      expect(ctx.fencingToken).toBeUndefined();
    },
  });
});

test("run keeps its own this", async () => {
  const seen: string[] = [];
  const withState = {
    ...draft,
    word: "kept",
    async run() {
      seen.push(this.word);
    },
  };
  await defineObserver(withState).run({} as never);
  expect(seen).toEqual(["kept"]);
});

test("params that pass come back with their defaults", () => {
  expect(parseParams(defineObserver(draft), { movePercent: 1 })).toEqual({
    ok: true,
    params: { movePercent: 1, limits: [] },
  });
});

test("each bad param is named by its own JSON pointer, escaped", () => {
  const result = parseParams(defineObserver(draft), { movePercent: -1, limits: [{ "a/b": 1 }], "x~y": 1 });
  if (result.ok) throw new Error("these params should not pass");
  expect(result.issues.map(({ pointer }) => pointer).sort()).toEqual(["/limits/0/a~1b", "/movePercent", "/x~0y"]);
  expect(paramsIssuesText(result.issues)).toContain("/x~0y: there is no such param");
});

test("a schema that throws on a value is an issue, no crash", () => {
  const params = z.string().transform(() => {
    throw new Error("boom");
  });
  expect(parseParams(defineObserver({ ...draft, params }), "x")).toEqual({
    ok: false,
    issues: [{ pointer: "", message: expect.stringContaining("boom") }],
  });
});

test("the JSON Schema is the input's: what has a default is not required", () => {
  const { schema, reason } = paramsJsonSchema(defineObserver(draft));
  expect(reason).toBeUndefined();
  expect(schema).toMatchObject({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    required: ["movePercent"],
    additionalProperties: false,
    properties: { movePercent: { type: "number", exclusiveMinimum: 0 } },
  });
});

test("a schema of zod/mini, which has no methods, is said as well", () => {
  const params = mini.strictObject({ url: mini.string(), limit: mini._default(mini.int(), 10) });
  expect("toJSONSchema" in params).toBe(false);
  const { schema, reason } = paramsJsonSchema({ params: params as unknown as z.ZodType });
  expect(reason).toBeUndefined();
  expect(schema).toMatchObject({ required: ["url"], additionalProperties: false });
});

test("a schema that JSON Schema cannot say falls back to one that allows all, with the reason", () => {
  const definition = defineObserver({ ...draft, params: z.object({ since: z.date() }) });
  expect(paramsJsonSchema(definition)).toEqual({ schema: {}, reason: expect.stringContaining("Date") });
});

describe("the isolation that a type asks for", () => {
  const draft = (isolation: unknown) =>
    ({ type: "t", params: z.object({}), isolation, run: async () => undefined }) as never;

  test("stands in its definition", () => {
    expect(defineObserver(draft({ runsPerSlot: 1, memoryMb: 64 }))).toMatchObject({
      isolation: { runsPerSlot: 1, memoryMb: 64 },
    });
    expect(defineObserver(draft(undefined))).not.toHaveProperty("isolation");
  });

  test.each([
    [7, "isolation is not an object"],
    [{ runsPerSlot: 0 }, "isolation.runsPerSlot is not a whole number from 1"],
    [{ memoryMb: 16 }, "isolation.memoryMb is not a whole number from 32"],
    [{ runsPerSlot: Number.MAX_VALUE }, "isolation.runsPerSlot is not a whole number from 1 to 1048576"],
    [{ memory: 64 }, "isolation has no memory: it takes runsPerSlot and memoryMb"],
  ])("is refused where it is none (%j)", (isolation, words) => {
    expect(() => defineObserver(draft(isolation))).toThrow(words);
  });
});

test("a silence that no service could keep to is refused where it is defined", () => {
  const of = (silence: object) => () => defineObserver({ type: "t", params: z.object({}), silence, run: async () => {} });
  expect(of({ warnAfterMs: 30 * 86_400_000 })).toThrow("silence.warnAfterMs is not a whole number from 1000 to 2147483647");
  expect(of({ restartAfterMs: 2_147_483_647 })).not.toThrow();
});
