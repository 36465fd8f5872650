/** Deeper than any honest document, and far from the depth at which PostgreSQL's and our own parsers give up. */
export const MAX_JSON_DEPTH = 64;

/** More than this many are not worth reading. */
const MAX_FLAWS = 20;

export interface JsonFlaw {
  path: (string | number)[];
  message: string;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * What in a parsed JSON value could not be kept as it is: PostgreSQL's jsonb refuses NUL and half surrogate pairs, a number
 * beyond the double range became Infinity (and would come back as null), and a key `__proto__` is a trap for every merge
 * downstream. Empty when all is well. Does not recurse, so a value of any depth is safe to ask about.
 */
export function findJsonFlaws(value: unknown): JsonFlaw[] {
  const flaws: JsonFlaw[] = [];
  const waiting: { value: unknown; path: (string | number)[] }[] = [{ value, path: [] }];
  for (let next = waiting.pop(); next !== undefined && flaws.length < MAX_FLAWS; next = waiting.pop()) {
    const { value: item, path } = next;
    const key = path.at(-1);
    report(flaws, path, typeof key === "string" ? keyFlaw(key) : undefined);
    if (key === "__proto__") continue;
    if (typeof item === "string") report(flaws, path, textFlaw(item));
    if (typeof item === "number" && !Number.isFinite(item)) report(flaws, path, "the number is too large");
    if (typeof item !== "object" || item === null) continue;
    if (path.length >= MAX_JSON_DEPTH) report(flaws, path, `nested deeper than ${MAX_JSON_DEPTH} levels`);
    else for (const child of childrenOf(item, path).reverse()) waiting.push(child); // may be too many for a spread
  }
  return flaws;
}

function childrenOf(item: object, path: (string | number)[]): { value: unknown; path: (string | number)[] }[] {
  if (Array.isArray(item)) return item.map((value: unknown, index) => ({ value, path: [...path, index] }));
  return Object.entries(item).map(([key, value]) => ({ value, path: [...path, key] }));
}

function report(flaws: JsonFlaw[], path: (string | number)[], message: string | undefined): void {
  if (message !== undefined) flaws.push({ path, message });
}

function textFlaw(text: string): string | undefined {
  if (text.includes("\0")) return "the character NUL (\\u0000) is not allowed";
  return LONE_SURROGATE.test(text) ? "half of a surrogate pair is not allowed" : undefined;
}

function keyFlaw(key: string): string | undefined {
  if (key === "__proto__") return "the key __proto__ is not allowed";
  const flaw = textFlaw(key);
  return flaw === undefined ? undefined : `in the key: ${flaw}`;
}
