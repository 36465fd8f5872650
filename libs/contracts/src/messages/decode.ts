import type { z } from "zod";

export type Decoded<T> = { ok: true; value: T } | { ok: false; reason: string };

/** Decodes an inbound body. It never throws: one bad message must not disturb its neighbours. */
export function decodeBody<S extends z.ZodType>(schema: S, body: Uint8Array): Decoded<z.infer<S>> {
  const json = parseJson(body);
  if (!json.ok) return json;
  const parsed = schema.safeParse(json.value);
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, reason: describeIssues(parsed.error.issues) };
}

/** An item of a message's list that was not understood, as it came, and why. */
export interface LeftOut {
  item: unknown;
  reason: string;
}

/**
 * As decodeBody, for messages that carry a list: an item of it that does not decode (a kind of a later version, say) is left
 * out, and its neighbours are taken.
 */
export function decodeList<S extends z.ZodType>(
  schema: S,
  list: string,
  body: Uint8Array,
): (Decoded<z.infer<S>> & { ok: true; leftOut: LeftOut[] }) | { ok: false; reason: string } {
  const json = parseJson(body);
  if (!json.ok) return json;
  const parsed = schema.safeParse(json.value);
  if (parsed.success) return { ok: true, value: parsed.data, leftOut: [] };
  const whole = { ok: false, reason: describeIssues(parsed.error.issues) } as const;
  const flawed = new Map<number, z.core.$ZodIssue[]>();
  for (const issue of parsed.error.issues) {
    const [key, index] = issue.path;
    if (key !== list || typeof index !== "number") return whole;
    flawed.set(index, [...(flawed.get(index) ?? []), issue]);
  }
  const envelope = json.value as Record<string, unknown>;
  const items = envelope[list] as unknown[];
  const rest = schema.safeParse({ ...envelope, [list]: items.filter((_, index) => !flawed.has(index)) });
  if (!rest.success) return whole;
  const leftOut = [...flawed].map(([index, issues]) => ({ item: items[index], reason: describeIssues(issues) }));
  return { ok: true, value: rest.data, leftOut };
}

/** A JSON pointer (RFC 6901) for a schema issue's path. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Params may be 64 deep, and stand some levels deep in their message. */
const MAX_DEPTH = 128;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Whether JSON in UTF-8 has more levels than that. JSON.parse takes any depth; a function that recurses over what it gives (JSON.stringify
 * does) throws at some thousands.
 */
export function isNestedDeeper(body: Uint8Array, levels: number): boolean {
  let depth = 0;
  for (let i = 0; i < body.length; i += 1) {
    const byte = body[i];
    if (byte === QUOTE) i = endOfString(body, i);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > levels) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

function endOfString(body: Uint8Array, start: number): number {
  for (let i = start + 1; i < body.length; i += 1) {
    if (body[i] === BACKSLASH) i += 1;
    else if (body[i] === QUOTE) return i;
  }
  return body.length;
}

function parseJson(body: Uint8Array): Decoded<unknown> {
  if (isNestedDeeper(body, MAX_DEPTH)) return { ok: false, reason: `nested deeper than ${MAX_DEPTH} levels` };
  try {
    return { ok: true, value: JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8")) };
  } catch (error) {
    return { ok: false, reason: `not JSON: ${(error as Error).message}` };
  }
}

const describeIssues = (issues: readonly z.core.$ZodIssue[]): string => issues.slice(0, 10).map(describeIssue).join("; ");

function describeIssue(issue: z.core.$ZodIssue): string {
  return `${toPointer(issue.path) || "/"}: ${issue.message}`;
}
