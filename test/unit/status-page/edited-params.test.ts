import { describe, expect, it } from "vitest";
import { z } from "zod";
import { editedParams, editOf } from "../../../services/status-page/src/form/edited-params.ts";

const SCHEMA = z.toJSONSchema(
  z.strictObject({
    url: z.string(),
    everyMs: z.int().min(1).default(1_000),
    headers: z.record(z.string(), z.string()).optional(),
    quiet: z.boolean().default(false),
    words: z.array(z.string()).optional(),
  }),
  { io: "input" },
) as Record<string, unknown>;

describe("params that are edited", () => {
  const before = { url: "https://a.example", words: ["one", "two"] };

  it("stand in the fields of their type as they are", () => {
    const { fields, start } = editOf(SCHEMA, before);
    expect(fields.map(({ key }) => key)).toContain("everyMs");
    expect(start).toMatchObject({ url: "https://a.example", words: "one\ntwo" });
  });

  it("that nobody touched stay what they are, left out or not", () => {
    const edit = editOf(SCHEMA, before);
    expect(editedParams(edit, before, edit.start)).toEqual({ params: before, errors: {} });
    expect(editedParams(edit, before, { ...edit.start, url: "https://b.example" }).params).toEqual({
      ...before,
      url: "https://b.example",
    });
  });

  it("can be taken away, and what is wrong is said at its field", () => {
    const edit = editOf(SCHEMA, before);
    expect(editedParams(edit, before, { ...edit.start, words: "" }).params).toEqual({ url: "https://a.example" });
    expect(editedParams(edit, before, { ...edit.start, everyMs: "often", url: "" }).errors).toEqual({
      "/params/url": "is required",
      "/params/everyMs": "must be a number",
    });
  });

  it("which the type's fields cannot show are one field for JSON", () => {
    // A field of one line takes line ends out of what is typed there, and those that nobody has touched with them.
    const ofLines = [{ url: "select *\nfrom prices" }, { ...before, words: ["a\rb"] }];
    for (const params of [{ ...before, colour: "red" }, { url: 7 }, ...ofLines, [1], 5, null]) {
      const edit = editOf(SCHEMA, params);
      expect(edit.fields.map(({ key }) => key)).toEqual([""]);
      expect(editedParams(edit, params, edit.start).params).toEqual(params);
    }
    const edit = editOf({}, { a: 1 });
    expect(editedParams(edit, { a: 1 }, { "": '{"a":2}' }).params).toEqual({ a: 2 });
  });
});
