import { jsonOf } from "./json-of.ts";
import type { FormField } from "./schema-fields.ts";

/** What stands in the fields, by key. */
export type FieldValues = Readonly<Record<string, string | boolean>>;

/** What is wrong, by the pointer of the field. */
export type FieldErrors = Readonly<Record<string, string>>;

export const initialValues = (fields: readonly FormField[]): FieldValues =>
  Object.fromEntries(fields.map(({ key, initial }) => [key, initial]));

type Reading = { value: unknown } | { error: string } | "left out";

/**
 * Makes params from what was typed. What is wrong is said per field, so that most mistakes need no way to the manager; that one
 * decides all the same. An optional field that is empty is left out.
 */
export function paramsOf(fields: readonly FormField[], values: FieldValues): { params: unknown; errors: FieldErrors } {
  const errors: Record<string, string> = {};
  const entries: [string, unknown][] = [];
  for (const field of fields) {
    const reading = readField(field, values[field.key] ?? field.initial);
    if (reading === "left out") continue;
    if ("error" in reading) errors[field.pointer] = reading.error;
    else entries.push([field.key, reading.value]);
  }
  const whole = entries.find(([key]) => key === "");
  return { params: whole === undefined ? Object.fromEntries(entries) : whole[1], errors };
}

function readField(field: FormField, typed: string | boolean): Reading {
  if (typeof typed === "boolean") return { value: typed };
  const text = field.kind === "text" || field.kind === "lines" ? typed : typed.trim();
  if (text === "" && field.required) return { error: "is required" };
  if (text === "") return "left out";
  switch (field.kind) {
    case "text":
      return readText(field, text);
    case "number":
      return readNumber(field, text);
    case "choice":
      return field.options.includes(text) ? { value: text } : { error: `must be one of ${field.options.join(", ")}` };
    case "lines":
      return { value: text.split("\n").filter((line) => line !== "") };
    case "json":
      return jsonOf(text);
    case "flag":
      return { value: text === "true" };
    default:
      return field satisfies never;
  }
}

function readText({ minLength = 0, maxLength = Infinity, pattern }: FormField & { kind: "text" }, text: string): Reading {
  const length = Array.from(text).length;
  if (length < minLength) return { error: `must have at least ${minLength} characters` };
  if (length > maxLength) return { error: `must have at most ${maxLength} characters` };
  return pattern === undefined || fits(pattern, text) ? { value: text } : { error: `must match ${pattern}` };
}

/** A pattern that this browser cannot read is left to the manager. */
function fits(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

function readNumber({ integer, minimum, maximum }: FormField & { kind: "number" }, text: string): Reading {
  const value = Number(text);
  if (!Number.isFinite(value)) return { error: "must be a number" };
  if (integer && !Number.isInteger(value)) return { error: "must be a whole number" };
  if (minimum !== undefined && value < minimum) return { error: `must be ${minimum} or more` };
  if (maximum !== undefined && value > maximum) return { error: `must be ${maximum} or less` };
  return { value };
}
