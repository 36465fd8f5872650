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
 * downstream. Empty when all is well. Does not recurse, so a value of any depth is safe to ask about; and remembers no more than where it is, as a
 * body of 32 MiB may be of sixteen million values.
 * @param mostFurtherDigits what its numbers may have of these together
 */
export function findJsonFlaws(value: unknown, mostFurtherDigits = Number.POSITIVE_INFINITY): JsonFlaw[] {
  const flaws: JsonFlaw[] = [];
  const levels: Level[] = [];
  let digits = 0;
  const report = (message: string | undefined): void => {
    if (message !== undefined) flaws.push({ path: levels.map(placeIn), message });
  };
  const lookAt = (item: unknown): void => {
    if (typeof item === "string") report(textFlaw(item));
    else if (typeof item === "number") {
      const before = digits;
      digits += furtherDigits(item);
      if (!Number.isFinite(item)) report("the number is too large");
      else if (before <= mostFurtherDigits && digits > mostFurtherDigits) report(tooManyDigits(mostFurtherDigits));
    }
    if (typeof item !== "object" || item === null) return;
    if (levels.length >= MAX_JSON_DEPTH) report(`nested deeper than ${MAX_JSON_DEPTH} levels`);
    else levels.push(levelOf(item));
  };
  lookAt(value);
  for (let level = levels.at(-1); level !== undefined && flaws.length < MAX_FLAWS; level = levels.at(-1)) {
    level.at += 1;
    if (level.at === level.size) {
      levels.pop();
      continue;
    }
    const key = level.keys?.[level.at];
    if (key !== undefined) report(keyFlaw(key));
    if (key !== "__proto__") lookAt(level.children[key ?? level.at]);
  }
  return flaws;
}

/** A list, or an object with its keys, and the index of the child that is looked at. */
interface Level {
  children: Record<string | number, unknown>;
  keys: readonly string[] | undefined;
  size: number;
  at: number;
}

function levelOf(item: object): Level {
  const children = item as Level["children"];
  if (Array.isArray(item)) return { children, keys: undefined, size: item.length, at: -1 };
  const keys = Object.keys(item);
  return { children, keys, size: keys.length, at: -1 };
}

const placeIn = ({ keys, at }: Level): string | number => keys?.[at] ?? at;

const tooManyDigits = (most: number): string =>
  `with this one, its numbers have over ${most} digits more than JSON shows of them (of 1e308 there are 309), which PostgreSQL all gives`;

/**
 * About how many more digits PostgreSQL's jsonb prints for a number than JSON, which writes very large and very small ones with an
 * exponent: for 1e308 there are 309.
 */
export function furtherDigits(number: number): number {
  const size = Math.abs(number);
  return size >= 1e21 || (size < 1e-6 && size > 0) ? Math.abs(Math.trunc(Math.log10(size))) : 0;
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
