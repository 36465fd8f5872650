import { everythingPermitted } from "@unacked/sdk";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import httpPoll from "../../../observers/http-poll.ts";
import priceWatch from "../../../observers/price-watch.ts";
import { labelsOf } from "../../../services/status-page/src/form/labels-of.ts";
import { type FieldValues, initialValues, paramsOf } from "../../../services/status-page/src/form/params-of.ts";
import { placeErrors } from "../../../services/status-page/src/form/place-errors.ts";
import { type FormField, fieldsOf, type Schema } from "../../../services/status-page/src/form/schema-fields.ts";

const fieldsOfZod = (schema: z.ZodType): FormField[] => fieldsOf(z.toJSONSchema(schema) as Schema);
const read = (schema: z.ZodType, typed: FieldValues) => {
  const fields = fieldsOfZod(schema);
  return paramsOf(fields, { ...initialValues(fields), ...typed });
};

describe("a form made from a JSON Schema", () => {
  it("asks for each property in its own way: the required first, switches last, defaults filled in", () => {
    const fields = fieldsOfZod(
      z.strictObject({
        verbose: z.boolean().default(true),
        everyMs: z.int().min(100).default(1_000).describe("Milliseconds between two looks."),
        args: z.array(z.string()).default(["-v", "x"]),
        mode: z.enum(["fast", "slow"]).default("slow"),
        headers: z.record(z.string(), z.string()).optional(),
        url: z.url(),
      }),
    );
    expect(fields.map(({ key, kind, required, initial }) => [key, kind, required, initial])).toEqual([
      ["url", "text", true, ""],
      ["everyMs", "number", false, "1000"],
      ["args", "lines", false, "-v\nx"],
      ["mode", "choice", false, "slow"],
      ["headers", "json", false, ""],
      ["verbose", "flag", false, true],
    ]);
    expect(fields[1]?.help).toBe("Milliseconds between two looks.");
  });

  it("follows references within the schema, and leaves to JSON what leads nowhere or in a circle", () => {
    const schema = {
      type: "object",
      properties: { a: { $ref: "#/$defs/port" }, b: { $ref: "#/$defs/circle" }, c: { $ref: "http://elsewhere" }, d: true },
      $defs: { port: { type: "integer", minimum: 1 }, circle: { $ref: "#/$defs/circle" } },
    };
    expect(fieldsOf(schema).map(({ key, kind }) => `${key} ${kind}`)).toEqual(["a number", "b json", "c json", "d json"]);
  });

  it("asks for anything as JSON when the schema names no properties", () => {
    expect(fieldsOf({}).map(({ pointer, kind, initial }) => [pointer, kind, initial])).toEqual([["/params", "json", "{}"]]);
    expect(paramsOf(fieldsOf({}), { "": "[1, 2]" }).params).toEqual([1, 2]);
  });

  it("makes params of what was typed, and leaves out what is optional and empty", () => {
    const schema = z.object({
      name: z.string(),
      count: z.int(),
      share: z.number().optional(),
      flag: z.boolean().optional(),
      lines: z.array(z.string()),
      more: z.object({ x: z.int() }).optional(),
    });
    const typed = { name: " kept as it is ", count: " 12 ", flag: true, lines: "a\n\nb", more: '{"x": 1}' };
    expect(read(schema, typed)).toEqual({
      params: { name: " kept as it is ", count: 12, flag: true, lines: ["a", "b"], more: { x: 1 } },
      errors: {},
    });
  });

  it.each([
    [{ count: "" }, "is required"],
    [{ count: "often" }, "must be a number"],
    [{ count: "1.5" }, "must be a whole number"],
    [{ count: "0" }, "must be 1 or more"],
    [{ count: "11" }, "must be 10 or less"],
  ])("says at the field what is wrong with %o", (typed, message) => {
    expect(read(z.object({ count: z.int().min(1).max(10) }), typed).errors).toEqual({ "/params/count": message });
  });

  it("counts characters as people do, and says which pattern or JSON is not met", () => {
    const schema = z.object({ icon: z.string().max(2), code: z.string().regex(/^[a-z]+$/), any: z.json().optional() });
    expect(read(schema, { icon: "🙂🙂", code: "ok" }).errors).toEqual({});
    const { errors } = read(schema, { icon: "🙂🙂🙂", code: "NO", any: "{" });
    expect(errors["/params/icon"]).toBe("must have at most 2 characters");
    expect(errors["/params/code"]).toContain("^[a-z]+$");
    expect(errors["/params/any"]).toMatch(/^is not JSON/);
  });

  it("gives params that the shipped types take", () => {
    const watchParams = priceWatch.under(everythingPermitted).params;
    const pollParams = httpPoll.under(everythingPermitted).params;
    const watch = read(watchParams, {
      url: "wss://ws-feed.exchange.coinbase.com",
      product: "BTC-USD",
      movePercent: "0.5",
    });
    expect(watch.errors).toEqual({});
    expect(watchParams.parse(watch.params)).toMatchObject({ movePercent: 0.5, emitTicks: false });
    const poll = read(pollParams, { url: "https://example.org", headers: '{"accept":"text/html"}' });
    expect(pollParams.parse(poll.params)).toMatchObject({ everyMs: 30_000, headers: { accept: "text/html" } });
  });

  it("escapes what a JSON pointer cannot hold", () => {
    expect(fieldsOf({ properties: { "a/b~c": { type: "string" } } })[0]?.pointer).toBe("/params/a~1b~0c");
  });
});

describe("what the manager found wrong", () => {
  it("is put at the field that it is about, the nearest above it, or told of the whole", () => {
    const told = [
      { pointer: "/params/headers/accept", message: "must be string" },
      { pointer: "/params/headers", message: "is too large" },
      { pointer: "/name", message: "is taken" },
      { pointer: "/params/head", message: "is unknown" },
      { message: "is wrong" },
    ];
    expect(placeErrors(told, ["/name", "/params/headers"])).toEqual({
      errors: { "/params/headers": "/accept: must be string; is too large", "/name": "is taken" },
      rest: ["/params/head: is unknown", "is wrong"],
    });
  });
});

describe("labels", () => {
  it("are read from pairs by commas and spaces", () => {
    expect(labelsOf(" team=prices, env=prod  a=b")).toEqual({ labels: { team: "prices", env: "prod", a: "b" } });
    expect(labelsOf("")).toEqual({ labels: {} });
    expect(labelsOf("team")).toEqual({ error: '"team" is not key=value' });
  });
});
