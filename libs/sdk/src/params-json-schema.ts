import { createRequire } from "node:module";
import type { z } from "zod";
import { readText } from "./read-text.ts";

/** A JSON Schema document, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Params as JSON Schema, or why they cannot be said in it. */
export type ParamsJsonSchema = {
  /** `{}`, which allows all, where the schema could not be written as JSON Schema. */
  readonly schema: JsonSchema;
  /** Why it could not. Absent: it could. */
  readonly reason?: string;
};

/**
 * The type's params as JSON Schema (draft 2020-12), for announcing the type: what a client has to *send*, so defaults
 * are optional. Refinements in code are not in it; the service checks them when the observer, or the task, starts.
 * Never throws.
 */
export function paramsJsonSchema(definition: { readonly params: z.ZodType }): ParamsJsonSchema {
  try {
    const schema = toJsonSchema(definition.params);
    // The methods zod hangs on the object are no part of the document; what is announced is its JSON.
    return { schema: JSON.parse(JSON.stringify(schema)) as JsonSchema };
  } catch (error) {
    return { schema: {}, reason: readText(() => (error instanceof Error ? error.message : error)) };
  }
}

const OPTIONS = { io: "input", target: "draft-2020-12" } as const;

/**
 * By the schema's own method: zod comes with an author's file, and to load it earlier was a third of a slot's start. What
 * `zod/mini` makes has no such method.
 */
function toJsonSchema(params: z.ZodType): JsonSchema {
  if (typeof params.toJSONSchema === "function") return params.toJSONSchema(OPTIONS);
  const core = createRequire(import.meta.url)("zod/v4/core") as typeof z.core;
  return core.toJSONSchema(params, OPTIONS);
}
