import type { z } from "zod";
import { describeIssues, MAX_DESCRIBED } from "./describe-issues.ts";
import { type Decoded, parseJson } from "./parse-json.ts";

/** The longest list of a message: a service sends no more events at once, and an order has no more targets. */
export const MAX_LISTED = 1_000;

/** An item of a message's list that was not understood, as it came, and why. */
export interface LeftOut {
  item: unknown;
  reason: string;
}

/**
 * Like decodeBody, for messages with a list: an item that does not decode (such as a kind of a later version) is left out,
 * and the others are kept.
 */
export function decodeList<S extends z.ZodType>(
  schema: S,
  list: string,
  body: Uint8Array,
): (Decoded<z.infer<S>> & { ok: true; leftOut: LeftOut[] }) | { ok: false; reason: string } {
  const json = parseJson(body);
  if (!json.ok) return json;
  const items = listOf(json.value, list);
  return items === undefined || !hasMoreCommas(body, MOST_AT_ONCE)
    ? readAtOnce(schema, list, json.value)
    : readOneByOne(schema, list, json.value as Record<string, unknown>, items);
}

type DecodedList<S extends z.ZodType> = ReturnType<typeof decodeList<S>>;

/**
 * Each flaw that a schema finds takes a KB and some ten microseconds, and a message may have millions. A message with more commas than this
 * may have as many flaws, so its items are read one by one. A thousand honest events seldom have as many.
 */
const MOST_AT_ONCE = 20_000;
/** After this many flaws nothing more is read. A single item may have so many: the longest list in one has 65,535 items. */
const MOST_FLAWS = 100_000;

function listOf(message: unknown, list: string): unknown[] | undefined {
  const items = (Object(message) as Record<string, unknown>)[list];
  return Array.isArray(items) ? items : undefined;
}

const COMMA = 0x2c;

function hasMoreCommas(body: Uint8Array, most: number): boolean {
  let commas = 0;
  for (let i = 0; i < body.length && commas <= most; i += 1) if (body[i] === COMMA) commas += 1;
  return commas > most;
}

function readAtOnce<S extends z.ZodType>(schema: S, list: string, message: unknown): DecodedList<S> {
  const parsed = schema.safeParse(message);
  if (parsed.success) return { ok: true, value: parsed.data, leftOut: [] };
  const whole = { ok: false, reason: describeIssues(parsed.error.issues) } as const;
  const flawed = new Map<number, z.core.$ZodIssue[]>();
  for (const issue of parsed.error.issues) {
    const [key, index] = issue.path;
    if (key !== list || typeof index !== "number") return whole;
    const issues = flawed.get(index);
    if (issues === undefined) flawed.set(index, [issue]);
    else if (issues.length < MAX_DESCRIBED) issues.push(issue);
  }
  const envelope = message as Record<string, unknown>;
  const items = envelope[list] as unknown[];
  const rest = schema.safeParse({ ...envelope, [list]: items.filter((_, index) => !flawed.has(index)) });
  if (!rest.success) return whole;
  const leftOut = [...flawed].map(([index, issues]) => ({ item: items[index], reason: describeIssues(issues) }));
  return { ok: true, value: rest.data, leftOut };
}

function readOneByOne<S extends z.ZodType>(
  schema: S,
  list: string,
  envelope: Record<string, unknown>,
  items: unknown[],
): DecodedList<S> {
  if (items.length > MAX_LISTED) return { ok: false, reason: `/${list}: Too big: it has more than ${MAX_LISTED} items` };
  const parse = (some: unknown[]) => schema.safeParse({ ...envelope, [list]: some });
  const none = parse([]);
  if (!none.success) return { ok: false, reason: describeIssues(none.error.issues) };
  const taken: unknown[] = [];
  const leftOut: LeftOut[] = [];
  let flaws = 0;
  for (const [index, item] of items.entries()) {
    const parsed = parse([item]);
    if (parsed.success) {
      taken.push(...(listOf(parsed.data, list) ?? []));
      continue;
    }
    const { issues } = parsed.error;
    const first = issues.slice(0, MAX_DESCRIBED).map((issue) => ({ ...issue, path: [list, index, ...issue.path.slice(2)] }));
    leftOut.push({ item, reason: describeIssues(first) });
    flaws += issues.length;
    if (flaws > MOST_FLAWS) return { ok: false, reason: `/${list}: too much is wrong, first of all ${leftOut[0]?.reason}` };
  }
  const value = listOf(none.data, list) === undefined ? none.data : { ...Object(none.data), [list]: taken };
  return { ok: true, value, leftOut };
}
