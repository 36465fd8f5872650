import type { z } from "zod";

export type Decoded<T> = { ok: true; value: T } | { ok: false; reason: string };

/** Decodes an inbound body. It never throws: one bad message must not disturb its neighbours. */
export function decodeBody<S extends z.ZodType>(schema: S, body: Uint8Array): Decoded<z.infer<S>> {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8"));
  } catch (error) {
    return { ok: false, reason: `not JSON: ${(error as Error).message}` };
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, reason: parsed.error.issues.slice(0, 10).map(describeIssue).join("; ") };
}

/** A JSON pointer (RFC 6901) for a schema issue's path. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function describeIssue(issue: z.core.$ZodIssue): string {
  return `${toPointer(issue.path) || "/"}: ${issue.message}`;
}
