import { type FieldProblem, findJsonFlaws, MAX_PARAMS_BYTES, toPointer } from "@unacked/contracts";
import type { z } from "zod";
import { bodyProblems, toldFields } from "./field-problems.ts";

/**
 * Holds a parsed JSON value against a schema, and against what the database could not keep, or would give back many times as long.
 * @param maxBytes its numbers may have as many further digits: what anybody measures has fewer than its JSON is long, thousands of 1e308 have fifty times as many
 * @param told shared by all that one answer is about
 */
export function jsonCheck<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  maxBytes = MAX_PARAMS_BYTES,
  told = toldFields(),
): { ok: true; value: z.output<Schema> } | { ok: false; errors: FieldProblem[] } {
  const flaws = findJsonFlaws(value, maxBytes);
  if (flaws.length > 0)
    return { ok: false, errors: told(flaws.map(({ path, message }) => ({ pointer: toPointer(path), message }))) };
  const parsed = schema.safeParse(value);
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, errors: told(bodyProblems(parsed.error.issues)) };
}
