import { type FieldProblem, findJsonFlaws, toPointer } from "@unacked/contracts";
import type { z } from "zod";
import { bodyProblems } from "./field-problems.ts";

/** Holds a parsed JSON value against a schema, and against what the database could not keep. */
export function jsonCheck<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { ok: true; value: z.output<Schema> } | { ok: false; errors: FieldProblem[] } {
  const flaws = findJsonFlaws(value);
  if (flaws.length > 0)
    return { ok: false, errors: flaws.map(({ path, message }) => ({ pointer: toPointer(path), message })) };
  const parsed = schema.safeParse(value);
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, errors: bodyProblems(parsed.error.issues) };
}
