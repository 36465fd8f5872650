import { ScheduleId } from "@unacked/contracts";
import type { AuditPosition } from "./access/audit.ts";
import type { ErrorPosition } from "./errors/error-desk.ts";
import type { ObserverPosition, ObserverSort } from "./observers/observer-tools.ts";
import type { TimelinePosition } from "./observers/timeline.ts";

/**
 * The opaque cursors of lists: base64url of the last row's sort key. They say where a page ended, not how many rows went before, so
 * rows that come and go do not shift the pages. What does not decode is undefined, never an exception: cursors come from outside.
 */
export function encodeObserverCursor(position: ObserverPosition): string {
  switch (position.sort) {
    case "newest":
      return encodeCreated("n", position);
    case "oldest":
      return encodeCreated("l", position);
    case "attempts":
      return encode(["a", String(position.attempts), position.createdAtMicros, position.id]);
    default:
      return position satisfies never;
  }
}

/** A cursor belongs to its sort: one of another sort is refused. */
export function decodeObserverCursor(cursor: string, sort: ObserverSort): ObserverPosition | undefined {
  if (sort !== "attempts") {
    const created = decodeCreated(sort === "newest" ? "n" : "l", cursor);
    return created && { sort, ...created };
  }
  const [kind, ...parts] = decode(cursor);
  const [attempts, createdAtMicros, id] = parts;
  if (kind !== "a" || parts.length !== 3 || !isAttempts(attempts) || !isMicros(createdAtMicros) || !isUuid(id))
    return undefined;
  return { sort, attempts: Number(attempts), createdAtMicros, id };
}

interface Created {
  createdAtMicros: string;
  id: string;
}

export const encodeTaskCursor = (position: Created): string => encodeCreated("k", position);
export const decodeTaskCursor = (cursor: string): Created | undefined => decodeCreated("k", cursor);
export const encodeTimerCursor = (position: Created): string => encodeCreated("i", position);
export const decodeTimerCursor = (cursor: string): Created | undefined => decodeCreated("i", cursor);

export const encodeWorkCursor = (position: Created): string => encodeCreated("w", position);
export const decodeWorkCursor = (cursor: string): Created | undefined => decodeCreated("w", cursor);

export const encodeScheduleCursor = (id: string): string => encode(["s", id.replaceAll(".", "/")]);
export function decodeScheduleCursor(cursor: string): string | undefined {
  const [kind, id, ...rest] = decode(cursor);
  const known = ScheduleId.safeParse(id?.replaceAll("/", "."));
  return kind === "s" && rest.length === 0 ? known.data : undefined;
}

export const encodeOccurrenceCursor = (micros: string): string => encode(["o", micros]);
export function decodeOccurrenceCursor(cursor: string): string | undefined {
  const [kind, micros, ...rest] = decode(cursor);
  return kind === "o" && rest.length === 0 && isMicros(micros) ? micros : undefined;
}

export const encodeFlowCursor = (position: Created): string => encodeCreated("f", position);
export const decodeFlowCursor = (cursor: string): Created | undefined => decodeCreated("f", cursor);

export const encodeTimelineCursor = ({ atMicros, key }: TimelinePosition): string => encode(["t", atMicros, key]);
export function decodeTimelineCursor(cursor: string): TimelinePosition | undefined {
  const [kind, atMicros, key = "", ...rest] = decode(cursor);
  if (kind !== "t" || rest.length > 0 || !isMicros(atMicros) || !/^[a-e][0-9a-f-]{0,40}$/.test(key)) return undefined;
  return { atMicros, key };
}

/** The cursor of lists whose order never changes. */
export const encodePlaceCursor = (place: number): string => encode(["p", String(place)]);

export function decodePlaceCursor(cursor: string): number | undefined {
  const [kind, place = "", ...rest] = decode(cursor);
  return kind === "p" && rest.length === 0 && /^[0-9]{1,9}$/.test(place) ? Number(place) : undefined;
}

const encodeCreated = (kind: string, { createdAtMicros, id }: Created): string => encode([kind, createdAtMicros, id]);

function decodeCreated(wanted: string, cursor: string): Created | undefined {
  const [kind, createdAtMicros, id, ...rest] = decode(cursor);
  if (kind !== wanted || rest.length > 0 || !isMicros(createdAtMicros) || !isUuid(id)) return undefined;
  return { createdAtMicros, id };
}

export function encodeErrorCursor(position: ErrorPosition): string {
  return encode(["e", position.id]);
}

export function decodeErrorCursor(cursor: string): ErrorPosition | undefined {
  const [kind, id, ...rest] = decode(cursor);
  if (kind !== "e" || rest.length > 0 || id === undefined || !/^[0-9]{1,18}$/.test(id)) return undefined;
  return { id };
}

export function encodeAuditCursor({ atMicros, id }: AuditPosition): string {
  return encode(["t", atMicros, id]);
}

export function decodeAuditCursor(cursor: string): AuditPosition | undefined {
  const [kind, atMicros, id, ...rest] = decode(cursor);
  if (kind !== "t" || rest.length > 0 || !isMicros(atMicros) || !isUuid(id)) return undefined;
  return { atMicros, id };
}

const MAX_CURSOR_LENGTH = 256;

const encode = (parts: string[]): string => Buffer.from(parts.join("."), "utf8").toString("base64url");

const decode = (cursor: string): string[] =>
  cursor.length <= MAX_CURSOR_LENGTH && /^[A-Za-z0-9_-]+$/.test(cursor)
    ? Buffer.from(cursor, "base64url").toString("utf8").split(".")
    : [];

/** Whether a double multiplies it exactly (up to 2^53 µs: the year 2255), as the query turns it into a time. */
const isMicros = (text: string | undefined): text is string =>
  text !== undefined && /^[0-9]{1,16}$/.test(text) && Number(text) <= Number.MAX_SAFE_INTEGER;

const isAttempts = (text: string | undefined): boolean =>
  text !== undefined && /^[0-9]{1,10}$/.test(text) && Number(text) <= 2_147_483_647;

const isUuid = (text: string | undefined): text is string =>
  text !== undefined && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
