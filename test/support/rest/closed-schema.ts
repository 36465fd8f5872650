/** A deep copy in which an object with named properties takes no others, unless it says itself whether it does. */
export function closed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(closed) as T;
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  return (isOpen(copy) ? { ...copy, additionalProperties: false } : copy) as T;
}

/** An object's schema, not a list of properties one of which is called `properties`. */
const isOpen = (schema: Record<string, unknown>): boolean =>
  typeof schema.properties === "object" &&
  [schema.type].flat().includes("object") &&
  schema.additionalProperties === undefined;
