import { withoutStacks } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { apiRoutes } from "../../../services/observer-manager/src/adapters/http/api/api-routes.ts";
import { PLAIN_CALLS } from "../../../services/observer-manager/src/adapters/http/openapi/plain-calls.ts";
import { seenBy } from "../../../services/observer-manager/src/adapters/http/server/seen-by.ts";

/** Of every answer and every event, by where they are sent. */
const schemas = [...apiRoutes({} as never), ...PLAIN_CALLS].flatMap(({ operationId, answers, events = {} }) => [
  ...Object.entries(answers).flatMap(([status, { schema }]) =>
    schema === undefined ? [] : [{ place: `${operationId} ${status}`, schema }],
  ),
  ...Object.entries(events).map(([name, schema]) => ({ place: `${operationId} ${name}`, schema })),
]);

const shapeOf = (schema: z.ZodType) => JSON.stringify(z.toJSONSchema(schema, { io: "input", reused: "inline" }));

describe("an answer", () => {
  test.each(schemas)(
    "is whole for an operator, and shows a viewer no stack, and no lines of source: $place",
    ({ schema }) => {
      expect(shapeOf(seenBy("viewer", schema))).not.toMatch(/"(stack|excerpt)"/);
      expect(seenBy("operator", schema)).toBe(schema);
      expect(seenBy("viewer", schema)).toBe(seenBy("viewer", schema));
    },
  );

  test("of a kind that it cannot look into is an error, not a leak", () => {
    expect(() => seenBy("viewer", z.object({ a: z.lazy(() => z.string()) }))).toThrow("a part of type lazy");
  });
});

test("a text of JSON, whole or cut, loses the stacks of errors, lines of source, and nothing else", () => {
  const event = { error: { name: "E", message: 'a "stack"', stack: 'at f ("x\\":1)\nat g' }, at: 1 };
  const broken = { file: "a.ts", problem: 'an "excerpt"', excerpt: 'const at = "at f";\n      ^' };
  const text = JSON.stringify({ events: [event, event], broken: [broken] });
  const without = { ...event, error: { ...event.error, stack: "(for operators)" } };
  expect(JSON.parse(withoutStacks(text))).toEqual({
    events: [without, without],
    broken: [{ ...broken, excerpt: "(for operators)" }],
  });
  for (let length = 0; length < text.length; length += 1)
    expect(withoutStacks(text.slice(0, length))).not.toMatch(/at [fg]/);
});
