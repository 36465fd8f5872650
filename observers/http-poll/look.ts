import { isDeepStrictEqual } from "node:util";
import { MAX_EVENT_BYTES } from "@unacked/sdk";
import { parseExactly } from "./exact-json.ts";
import { valueAt } from "./json-pointer.ts";

/** As JSON; the rest of an event with it has room beside. */
export const maxValueBytes = MAX_EVENT_BYTES - 4_096;

/**
 * What one look at an address gave. `status` is the HTTP status, or `unreachable` when no answer came (then `error` says
 * why). `value` stands at the JSON pointer; it is absent if none was asked for, the body is not JSON or has one there that is too
 * large (`error`), or has nothing there.
 */
export type Look = {
  readonly status: number | "unreachable";
  readonly value?: unknown;
  readonly error?: string;
};

/** Makes a look of an answer; `body` is absent when it was not read. */
export function lookAt(status: number, body: string | undefined, pointer: string | undefined): Look {
  if (body === undefined || pointer === undefined) return { status };
  let document: unknown;
  try {
    document = parseExactly(body);
  } catch {
    return { status, error: "the body is not JSON" };
  }
  const value = valueAt(document, pointer);
  if (value === undefined) return { status };
  const isTooLarge = Buffer.byteLength(JSON.stringify(value)) > maxValueBytes;
  return isTooLarge ? { status, error: `the value is over ${maxValueBytes} bytes` } : { status, value };
}

/** Whether two looks differ in status or value. The wording of an error is no difference. */
export function hasChanged(before: Look | undefined, now: Look): boolean {
  if (before === undefined) return true;
  return before.status !== now.status || !isDeepStrictEqual(before.value, now.value);
}
