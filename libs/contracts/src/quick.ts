import type { z } from "zod";

/**
 * Lets a schema take at once what it would give back as it is. Of an id, or a time, zod makes a list of checks, each of which is a call or two: of a message
 * with ten thousand of these that is most of what it takes to read it.
 *
 * @param isPlain whether the value passes the schema, and comes out of it unchanged. Where that does not hold, or is not certain, the schema
 * itself looks at it, in its words. It is lost where something is added to the schema (`.max()`, `.describe()`), but not by a schema around it (`.optional()`)
 * @returns the schema
 */
export function quick<Schema extends z.ZodType>(schema: Schema, isPlain: (value: unknown) => boolean): Schema {
  const { run } = schema._zod;
  schema._zod.run = (payload, context) => (isPlain(payload.value) ? payload : run(payload, context));
  return schema;
}

/** Whether it is a text without anything that a check by `pattern` could not see; none that is longer is plain. */
export const plainText =
  (pattern: RegExp, most: number) =>
  (value: unknown): boolean =>
    typeof value === "string" && value.length <= most && pattern.test(value);

/** Whether it is an integer from `min` to `max`. */
export const plainInteger =
  (min: number, max: number) =>
  (value: unknown): boolean =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
