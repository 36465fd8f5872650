import { z } from "zod";
import type { ObserverDefinition } from "./observer-definition.ts";

/** A JSON Schema document, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** `reason` is there when the schema could not be written as JSON Schema; `schema` is then `{}`, which allows all. */
export type ParamsJsonSchema = { readonly schema: JsonSchema; readonly reason?: string };

/**
 * The type's params as JSON Schema (draft 2020-12), for announcing the type: what a client has to *send*, so defaults
 * are optional. Refinements in code are not in it; the service checks them when the observer starts.
 */
export function paramsJsonSchema(definition: ObserverDefinition): ParamsJsonSchema {
  try {
    const schema: JsonSchema = z.toJSONSchema(definition.params, { io: "input", target: "draft-2020-12" });
    // The methods zod hangs on the object are no part of the document; what is announced is its JSON.
    return { schema: JSON.parse(JSON.stringify(schema)) as JsonSchema };
  } catch (error) {
    return { schema: {}, reason: error instanceof Error ? error.message : String(error) };
  }
}
