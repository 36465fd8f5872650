/** A JSON Schema (draft 2020-12), as far as a form is made from it. */
export type Schema = Record<string, unknown>;

/** How a field is asked for. `json`: whatever has no better way, written as JSON. */
export type FieldKind =
  | { kind: "text"; minLength?: number; maxLength?: number; pattern?: string }
  | { kind: "number"; integer: boolean; minimum?: number; maximum?: number }
  | { kind: "flag" }
  | { kind: "choice"; options: string[] }
  | { kind: "lines" }
  | { kind: "json" };

export type FormField = FieldKind & {
  /** The property's name; "" when the whole of the params is asked for in one field. */
  key: string;
  /** RFC 6901, in the request's body: `/params/everyMs`. */
  pointer: string;
  help: string;
  required: boolean;
  /** What stands there before anybody types. */
  initial: string | boolean;
};

/**
 * The fields of a type's params. Those that must be given come first, switches last, else in the schema's own order. A schema
 * that is no list of properties (`{}` among them) becomes one field for JSON.
 */
export function fieldsOf(schema: Schema): FormField[] {
  const root = resolved(schema, schema);
  const properties = asSchema(root["properties"]);
  if (properties === undefined) return [wholeAsJson(root)];
  const required = new Set(Array.isArray(root["required"]) ? root["required"] : []);
  const fields = Object.entries(properties).map(([key, value]) =>
    fieldOf(key, resolved(asSchema(value) ?? {}, schema), required.has(key)),
  );
  const rank = ({ kind, required }: FormField) => (required ? 0 : kind === "flag" ? 2 : 1);
  return fields.sort((a, b) => rank(a) - rank(b));
}

function fieldOf(key: string, schema: Schema, isRequired: boolean): FormField {
  const kind = kindOf(schema);
  // zod calls a property with a default required: what comes out always has it.
  const required = isRequired && schema["default"] === undefined && kind.kind !== "flag";
  const help = typeof schema["description"] === "string" ? schema["description"] : "";
  return { ...kind, key, pointer: `/params/${escaped(key)}`, help, required, initial: initialOf(kind, schema["default"]) };
}

function wholeAsJson(schema: Schema): FormField {
  const help = typeof schema["description"] === "string" ? schema["description"] : "Any JSON.";
  return { kind: "json", key: "", pointer: "/params", help, required: false, initial: "{}" };
}

function kindOf(schema: Schema): FieldKind {
  const options = Array.isArray(schema["enum"]) ? schema["enum"] : [];
  if (options.length > 0 && options.every((option) => typeof option === "string")) return { kind: "choice", options };
  switch (schema["type"]) {
    case "string":
      return {
        kind: "text",
        ...numberAt(schema, "minLength"),
        ...numberAt(schema, "maxLength"),
        ...(typeof schema["pattern"] === "string" && { pattern: schema["pattern"] }),
      };
    case "integer":
    case "number":
      return {
        kind: "number",
        integer: schema["type"] === "integer",
        ...numberAt(schema, "minimum"),
        ...numberAt(schema, "maximum"),
      };
    case "boolean":
      return { kind: "flag" };
    case "array":
      return asSchema(schema["items"])?.["type"] === "string" ? { kind: "lines" } : { kind: "json" };
    default:
      return { kind: "json" };
  }
}

function initialOf({ kind }: FieldKind, value: unknown): string | boolean {
  if (kind === "flag") return value === true;
  if (value === undefined) return "";
  if (kind === "lines") return (value as unknown[]).map(String).join("\n");
  return kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}

function numberAt<Key extends string>(schema: Schema, key: Key): Partial<Record<Key, number>> {
  const value = schema[key];
  return (typeof value === "number" ? { [key]: value } : {}) as Partial<Record<Key, number>>;
}

/** Follows `$ref`s within the schema; one that leads nowhere, or in a circle, is left to JSON. */
function resolved(schema: Schema, root: Schema): Schema {
  let at: Schema | undefined = schema;
  for (let steps = 0; steps < 10 && typeof at?.["$ref"] === "string"; steps += 1) {
    const { $ref: ref, ...beside }: Schema = at;
    const target = targetOf(String(ref), root);
    at = target === undefined ? undefined : { ...target, ...beside };
  }
  return at === undefined || "$ref" in at ? {} : at;
}

function targetOf(ref: string, root: Schema): Schema | undefined {
  if (!ref.startsWith("#")) return undefined;
  const path = ref.slice(1).split("/").slice(1);
  return path.reduce<Schema | undefined>(
    (at, part) => asSchema(at?.[part.replaceAll("~1", "/").replaceAll("~0", "~")]),
    root,
  );
}

function asSchema(value: unknown): Schema | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
