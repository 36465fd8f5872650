import { FlowRef, ObserverId, PoolName, TaskEnded, TaskId, TypeName } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { count, wallClockMs } from "../../../libs/contracts/src/bounds.ts";
import { plainInteger, quick } from "../../../libs/contracts/src/quick.ts";

const ID = "01a23177-a624-7417-9e86-a43b84e45845";
const TEXTS = ["", "a", "a.b", "a:b", "a\n", "ä", "A_b-9", "x".repeat(64), "x".repeat(65), "__proto__"];
const IDS = [ID, ID.toUpperCase(), `${ID}\n`, ` ${ID}`, ID.replace("7417", "0417"), ID.replace("9e86", "0e86"), `{${ID}}`];
const NUMBERS = [0, -0, 1, -1, 1.5, 2 ** 31 - 1, 2 ** 31, 2 ** 53, 8_640_000_000_000_000, Date.UTC(9999), Number.NaN];
const VALUES = [...TEXTS, ...IDS, ...NUMBERS, "1", null, undefined, true, {}, [ID], 1n];

describe("what is plain is taken as it is, and everything as without that", () => {
  const schemas = { ObserverId, TaskId, PoolName, TypeName, FlowRef, wallClockMs, count0: count(0), count1: count(1) };
  test.each(Object.entries(schemas))("%s", (_, schema) => {
    const slow: z.ZodType = schema.describe("a copy, which is not quick");
    for (const value of VALUES) {
      const [told, before] = [schema.safeParse(value), slow.safeParse(value)];
      expect([value, told.data, told.error?.issues]).toEqual([value, before.data, before.error?.issues]);
    }
  });
});

test("of what is plain the schema's own checks are not made, inside of another one neither", () => {
  let looks = 0;
  const even = quick(
    z.int().refine((number) => (looks += 1) > 0 && number % 2 === 0),
    plainInteger(2, 2),
  );
  const list = z.object({ items: z.array(even), last: even.optional() });
  expect(list.parse({ items: [2, 2], last: 2 })).toEqual({ items: [2, 2], last: 2 });
  expect(looks).toBe(0);
  expect(list.safeParse({ items: [2, 3, 4] }).error?.issues).toMatchObject([{ path: ["items", 1] }]);
  expect(looks).toBe(2);
});

test("JSON Schema says of it what it says without", () => {
  const told = z.toJSONSchema(TaskEnded.pick({ taskId: true, at: true }), { io: "input" });
  expect(told.properties).toMatchObject({ taskId: { type: "string", format: "uuid" }, at: { type: "integer", minimum: 0 } });
});
