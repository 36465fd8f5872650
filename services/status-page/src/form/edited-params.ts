import { type FieldErrors, type FieldValues, paramsOf } from "./params-of.ts";
import { type FormField, fieldsOf, type Schema } from "./schema-fields.ts";

/** A form that begins with what there is. */
export interface Edit {
  fields: readonly FormField[];
  start: FieldValues;
}

/** The type's own fields, where these can show all that the params hold; else one for JSON. */
export function editOf(schema: Schema, params: unknown): Edit {
  const fields = fieldsOf(schema);
  const shown = textsOf(fields, params);
  if (shown !== undefined) return { fields, start: shown };
  const whole = fieldsOf({}).map((field) => ({ ...field, initial: JSON.stringify(params, null, 2) }));
  return { fields: whole, start: Object.fromEntries(whole.map(({ key, initial }) => [key, initial])) };
}

/** What was not touched stays what it was, left out or not. */
export function editedParams(
  { fields, start }: Edit,
  before: unknown,
  values: FieldValues,
): { params: unknown; errors: FieldErrors } {
  const touched = fields.filter(({ key }) => values[key] !== start[key]);
  const { params, errors } = paramsOf(touched, values);
  if (touched.length === 0) return { params: before, errors };
  if (touched.some(({ key }) => key === "")) return { params, errors };
  const keys = new Set(touched.map(({ key }) => key));
  const kept = Object.entries(before as object).filter(([key]) => !keys.has(key));
  return { params: { ...Object.fromEntries(kept), ...(params as object) }, errors };
}

/** Undefined: something has no field, or does not fit its own. */
function textsOf(fields: readonly FormField[], params: unknown): FieldValues | undefined {
  if (fields.some(({ key }) => key === "")) return undefined;
  if (typeof params !== "object" || params === null || Array.isArray(params)) return undefined;
  const values: Record<string, string | boolean> = {};
  const entries = new Map(Object.entries(params));
  for (const field of fields) {
    const text = entries.has(field.key) ? textOf(field, entries.get(field.key)) : field.initial;
    if (text === undefined) return undefined;
    values[field.key] = text;
    entries.delete(field.key);
  }
  return entries.size === 0 ? values : undefined;
}

function textOf({ kind }: FormField, value: unknown): string | boolean | undefined {
  switch (kind) {
    case "flag":
      return typeof value === "boolean" ? value : undefined;
    case "text":
      return typeof value === "string" && !LINE_END.test(value) ? value : undefined;
    case "choice":
      return typeof value === "string" ? value : undefined;
    case "number":
      return typeof value === "number" ? String(value) : undefined;
    case "lines": {
      const isPlain = Array.isArray(value) && value.every((line) => typeof line === "string" && isOneLine(line));
      return isPlain ? value.join("\n") : undefined;
    }
    case "json":
      return JSON.stringify(value, null, 2);
    default:
      return kind satisfies never;
  }
}

/** A field of one line would take them out of a text, and say nothing of it. */
const LINE_END = /[\r\n]/;

const isOneLine = (text: string): boolean => text !== "" && !LINE_END.test(text);
