import type { LogFields, LogLevel } from "@unacked/sdk";
import { z } from "zod";
import type { OutputLine } from "./line-reader.ts";

/**
 * What a worker says in a line of its standard output: an object with one of these keys.
 *
 * - `stray`: not understood, and no event: it is passed over, and logged.
 * - `broken`: it may have been an event, or was a checkpoint. What the worker saves behind it would pass over that, so it must not go on.
 */
export type WorkerMessage =
  | { readonly kind: "emit"; readonly event: unknown }
  | { readonly kind: "checkpoint"; readonly value: unknown }
  | { readonly kind: "alive" }
  | { readonly kind: "log"; readonly level: LogLevel; readonly message: string; readonly fields?: LogFields | undefined }
  | { readonly kind: "stray" | "broken"; readonly why: string };

/** Characters of a line: a checkpoint of 64 KiB has room, and most of what JSON's escapes add to one. */
export const MAX_WORKER_LINE = 131_072;

const KNOWN = ["emit", "checkpoint", "alive", "log"];
/** A line that holds several of these, or of them and others, loses an event or a checkpoint if it is passed over. */
const KEPT = new Set(["emit", "checkpoint"]);

const TEXTS = /"(?:[^"\\]|\\.)*"/g;
const LONG_WHOLE_NUMBERS = /(?<![\d.eE])\d{16,}(?![\d.eE])/g;
/** The first whole number that JSON.parse rounds, as it is beyond 2^53: an id of 19 digits, a time in nanoseconds. */
const roundedNumberOf = (line: string): string | undefined =>
  /\d{16}/.test(line)
    ? line
        .replace(TEXTS, "")
        .match(LONG_WHOLE_NUMBERS)
        ?.find((digits) => !Number.isSafeInteger(Number(digits)))
    : undefined;

const LogMessage = z.union([
  z.string().transform((message) => ({ level: "info" as const, message, fields: undefined })),
  z.strictObject({
    level: z.enum(["debug", "info", "warn", "error"]).default("info"),
    message: z.string(),
    fields: z.record(z.string(), z.unknown()).optional(),
  }),
]);

export function readWorkerMessage({ line, truncated }: OutputLine): WorkerMessage {
  if (truncated) return { kind: "broken", why: `it has more than ${MAX_WORKER_LINE} characters` };
  if (!line.trimStart().startsWith("{")) return { kind: "stray", why: "it is no JSON object" };
  let message: Record<string, unknown>;
  try {
    message = JSON.parse(line) as Record<string, unknown>;
  } catch (error) {
    return { kind: "broken", why: `it is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const keys = Object.keys(message);
  const [key = ""] = keys;
  const rounded = roundedNumberOf(line);
  if (rounded !== undefined && keys.some((one) => KEPT.has(one)))
    return { kind: "broken", why: `the number ${rounded} would be rounded, as it is beyond 2^53: say it as a text` };
  if (keys.length !== 1) {
    const why = `it has ${keys.length} keys, and a message has one of ${KNOWN.join(", ")}`;
    return { kind: keys.some((one) => KEPT.has(one)) ? "broken" : "stray", why };
  }
  return readSingle(key, message[key]);
}

function readSingle(key: string, value: unknown): WorkerMessage {
  switch (key) {
    case "emit":
      return { kind: "emit", event: value };
    case "checkpoint":
      return { kind: "checkpoint", value };
    case "alive":
      return value === true ? { kind: "alive" } : { kind: "stray", why: "alive is not true" };
    case "log": {
      const read = LogMessage.safeParse(value);
      if (read.success) return { kind: "log", ...read.data };
      return { kind: "stray", why: "log is neither a text nor { level, message, fields }" };
    }
    default:
      return { kind: "stray", why: `unknown key ${JSON.stringify(key)}: a message has one of ${KNOWN.join(", ")}` };
  }
}
