import fc from "fast-check";

/** What is looked at of a JSON schema of the OpenAPI document. */
export interface BodySchema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: BodySchema[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, BodySchema>;
  required?: string[];
  additionalProperties?: boolean | BodySchema;
  items?: BodySchema;
  minItems?: number;
}

/** By a field's name: values that its schema does not tell, such as names of what is there, or a cron expression. */
export type KnownValues = Record<string, fc.Arbitrary<unknown>>;

/** In the place of what `JSON.stringify` would never write: a number beyond any type, two keys that are one. */
const raw = (json: string): string => `~raw ${json}~`;
const RAW = /"~raw ((?:[^~"\\]|\\.)*)~"/g;

/** As it is sent. */
export const written = (body: unknown): string =>
  JSON.stringify(body).replaceAll(RAW, (_, json: string) => JSON.parse(`"${json}"`) as string);

const ODD_TEXTS = [
  "\0",
  "a\0b",
  "\ud800",
  "x\udc00",
  "💥",
  "نص",
  "i̇",
  "\u202e",
  "\ufeff",
  "__proto__",
  "constructor",
  "'; --",
  '"',
  "\\",
  "%",
  "${x}",
  "\r\nX-Injected: 1",
  "-0",
  "1e999",
  "x".repeat(20_000),
  "é".repeat(4_000),
  " ",
  "",
];

const ODD_NUMBERS = ["9007199254740993", "18446744073709551616", "1e308", "-1e308", "1e-400", "-0", "1.0", "1E0", "0.5"].map(
  raw,
);

const ODD_DATES = [
  "0001-01-01T00:00:00Z",
  "0000-01-01T00:00:00Z",
  "1970-01-01T00:00:00Z",
  "1969-12-31T23:59:59.999Z",
  "2024-02-29T12:00:00+14:00",
  "2024-02-29T23:59:60Z",
  "2025-02-29T00:00:00Z",
  "2026-11-20T09:00:00.123456789Z",
  "2026-11-20T09:00:00,5Z",
  "9999-12-31T23:59:59.999Z",
  "9999-12-31T23:59:59-12:00",
  "+275760-09-13T00:00:00.001Z",
  "infinity",
];

/** Any JSON value: what nobody's schema holds back from the books. */
const ODD_VALUES = [
  null,
  false,
  0,
  "",
  ...ODD_TEXTS,
  ...ODD_NUMBERS,
  raw('{"a":1,"a":2}'),
  raw('{"__proto__":{"role":"admin"}}'),
  raw("[".repeat(60) + "]".repeat(60)),
  raw("[".repeat(70) + "]".repeat(70)),
  { "": { "": "" } },
  "x".repeat(70_000),
];
/** What PostgreSQL refuses where we do not: most often of all. */
const UNKEPT = ["a\0b", { a: "\0" }, { "a\0b": 1 }, [["\ud800"]], { "\udfff": 1 }, raw("1e999"), raw("9".repeat(400))];
const ANY = fc.oneof(
  fc.constantFrom(...UNKEPT),
  fc.constantFrom(...ODD_VALUES),
  fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }),
);

/** What its schema takes, at the edges of it. */
export function fitting(schema: BodySchema, known: KnownValues = {}): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => fitting(one, known)));
  const types = [schema.type ?? []].flat();
  return types.length === 0 ? ANY : fc.oneof(...types.map((type) => fittingType(type, schema, known)));
}

function fittingType(type: string, schema: BodySchema, known: KnownValues): fc.Arbitrary<unknown> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "string":
      return textOf(schema);
    case "integer":
    case "number":
      return numberOf(schema);
    case "array": {
      const { items = {}, minItems = 0 } = schema;
      return fc.array(fitting(items, known), { minLength: minItems, maxLength: Math.max(minItems, 3) });
    }
    default:
      return objectOf(schema, known);
  }
}

function objectOf({ properties = {}, required = [], additionalProperties }: BodySchema, known: KnownValues) {
  if (typeof additionalProperties === "object")
    return fc.dictionary(
      fc.oneof(fc.stringMatching(/^[a-z]{1,5}$/), fc.constantFrom(...ODD_TEXTS)),
      fitting(additionalProperties, known),
      { maxKeys: 3 },
    );
  const fields = Object.entries(properties).map(([name, field]) => [name, known[name] ?? fitting(field, known)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: required });
}

function textOf({ format, pattern, minLength = 0, maxLength = 20_000 }: BodySchema): fc.Arbitrary<string> {
  if (format === "uuid") return fc.uuid();
  if (format === "date-time" || format === "date") return fc.constantFrom(...ODD_DATES);
  if (pattern !== undefined) {
    const longest = fc.constant("x".repeat(maxLength));
    return fc.oneof({ weight: 3, arbitrary: fc.stringMatching(new RegExp(pattern), { size: "small" }) }, longest);
  }
  const cut = (text: string) => text.slice(0, maxLength).padEnd(minLength, "x");
  return fc.oneof(fc.constantFrom("\0", "\ud800"), fc.constantFrom(...ODD_TEXTS), fc.string({ unit: "binary" })).map(cut);
}

function numberOf({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: BodySchema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(minimum, maximum, minimum + 1, maximum - 1) },
    { weight: 1, arbitrary: fc.constantFrom(minimum - 1, maximum + 1) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_NUMBERS) },
  );
}

/** A right body in which one field, however deep, is odd: mostly what its schema takes, or what nobody would. */
export function almostRight(right: object, schema: BodySchema, known: KnownValues): fc.Arbitrary<object> {
  return fc.constantFrom(...Object.entries(schema.properties ?? {})).chain(([name, field]) => {
    const value = (right as Record<string, unknown>)[name];
    const odd = fc.oneof(
      { weight: 6, arbitrary: within(value, field, known) ?? known[name] ?? fitting(field, known) },
      { weight: 1, arbitrary: ANY },
    );
    return odd.map((one) => ({ ...right, [name]: one }));
  });
}

/** Where a right value has fields of its own: one of those. */
function within(value: unknown, schema: BodySchema, known: KnownValues): fc.Arbitrary<unknown> | undefined {
  const { items, properties } = schema;
  if (Array.isArray(value) && items?.properties !== undefined && value.length > 0)
    return fc
      .nat(value.length - 1)
      .chain((place) => almostRight(value[place] as object, items, known).map((one) => value.with(place, one)));
  if (properties !== undefined && typeof value === "object" && value !== null) return almostRight(value, schema, known);
  return undefined;
}
