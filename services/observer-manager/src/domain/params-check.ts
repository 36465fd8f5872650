import type { FieldProblem } from "@unacked/contracts";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";

type Schema = Record<string, unknown>;

/** Formats are left to the service's own schema: names of formats differ, and a wrong guess would refuse good params. */
const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });

const MAX_COMPILED = 1_000;
const compiled = new Map<string, ValidateFunction | null>();
/** Ten thousand requests of one call are held against the very same schemas. */
const known = new WeakMap<Schema, ValidateFunction | null>();

/** Holds params against a type's JSON Schema (draft 2020-12). Pointers start at the request's body: `/params/…`. */
export function checkParams(schema: Schema, params: unknown): FieldProblem[] {
  const validate = known.get(schema) ?? compile(schema);
  known.set(schema, validate);
  if (validate === null || validate(params)) return [];
  return (validate.errors ?? []).map(toProblem);
}

/** A schema that does not compile accepts everything: the service will check. */
function compile(schema: Schema): ValidateFunction | null {
  const text = JSON.stringify(schema);
  const earlier = compiled.get(text);
  if (earlier !== undefined) return earlier;
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  let validate: ValidateFunction | null;
  try {
    // An $id or $schema of its own could clash with another service's copy of the same type.
    const { $id: _id, $schema: _schema, ...rest } = schema;
    validate = ajv.compile(rest);
  } catch {
    validate = null;
  }
  compiled.set(text, validate);
  return validate;
}

function toProblem(error: ErrorObject): FieldProblem {
  const missing: unknown = error.params["missingProperty"] ?? error.params["additionalProperty"];
  const name = typeof missing === "string" ? `/${missing.replaceAll("~", "~0").replaceAll("/", "~1")}` : "";
  const allowed: unknown = error.params["allowedValues"];
  const values = Array.isArray(allowed) ? `: ${allowed.map(String).join(", ")}` : "";
  return { pointer: `/params${error.instancePath}${name}`, message: `${error.message ?? "is wrong"}${values}` };
}
