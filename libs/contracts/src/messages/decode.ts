import type { z } from "zod";
import { describeIssues } from "./describe-issues.ts";
import { type Decoded, parseJson } from "./parse-json.ts";

/** Decodes an inbound body. It never throws: one bad message must not disturb its neighbours. */
export function decodeBody<S extends z.ZodType>(schema: S, body: Uint8Array): Decoded<z.infer<S>> {
  const json = parseJson(body);
  if (!json.ok) return json;
  const parsed = schema.safeParse(json.value);
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, reason: describeIssues(parsed.error.issues) };
}
