import { z } from "zod";
import { findJsonFlaws } from "./json-flaws.ts";
import { plainInteger, quick } from "./quick.ts";

/**
 * What the database's columns can hold. Every value of a message is bounded here: one that PostgreSQL refuses would fail its
 * whole transaction.
 */

/** PostgreSQL's `integer`. */
export const MAX_INT4 = 2_147_483_647;

/** A count in an `integer` column. */
export const count = (min: number) => quick(z.int().min(min).max(MAX_INT4), plainInteger(min, MAX_INT4));

/** The year 1: PostgreSQL has no year 0, and writes what comes before with a BC. */
const FIRST_TIME_MS = Date.parse("0001-01-01T00:00:00Z");

/** The year 9999: from then on a clock that is ahead of UTC may show a year of five digits, which neither ISO 8601 nor JSON Schema's `date-time` knows. */
export const END_OF_TIMES_MS = Date.UTC(9999);

/**
 * Wall clock in ms since the epoch, as services report it by their own clocks. Any Date is accepted; one beyond all times becomes
 * their end, so that it can be shown.
 */
export const wallClockMs = quick(
  z
    .int()
    .min(0)
    .max(8_640_000_000_000_000)
    .overwrite((ms) => Math.min(ms, END_OF_TIMES_MS - 1)),
  plainInteger(0, END_OF_TIMES_MS - 1),
);

/** An amount in a `bigint` or `double precision` column. */
export const amount = z.number().min(0).max(Number.MAX_SAFE_INTEGER);

/** The hours of an offset that PostgreSQL takes; ISO 8601 goes up to 23. */
const MAX_OFFSET_HOURS = 15;

/** The longest timestamp, with a useful fraction of a second. PostgreSQL gives up on longer ones. */
const MAX_TIMESTAMP = 64;

/** ISO 8601 that PostgreSQL reads and every answer can show: a time that it refuses would fail all that is written, or read, with it. */
export const timestamp = z.iso
  .datetime({ offset: true })
  .max(MAX_TIMESTAMP)
  .refine(isWithinTimes, "must be in the years 1 to 9998 in UTC")
  .refine(hasNearOffset, `must have an offset of at most ${MAX_OFFSET_HOURS}:59, such as +02:00, or Z`);

/** Texts that are no time at all are left to the format. */
function isWithinTimes(text: string): boolean {
  const ms = Date.parse(text);
  return Number.isNaN(ms) || (ms >= FIRST_TIME_MS && ms < END_OF_TIMES_MS && !text.startsWith("0000"));
}

function hasNearOffset(text: string): boolean {
  const hours = /[+-](\d\d):?\d\d$/.exec(text)?.[1];
  return hours === undefined || Number(hours) <= MAX_OFFSET_HOURS;
}

/**
 * Text for display: what PostgreSQL cannot hold (NUL, half a surrogate pair) becomes U+FFFD, rather than that all the rest is
 * refused.
 */
export const shownText = (max: number) => z.string().max(max).overwrite(withoutHoles);

/** The same of somebody who does not know how long it may be: what is longer is cut (`…`). */
export const cutText = (max: number) =>
  z.string().overwrite((text) => withoutHoles(text.length > max ? `${text.slice(0, max - 1)}…` : text));

/** For people: what is longer is cut, and says so. */
export const cut = (text: string, max: number): string =>
  text.length > max ? `${withoutHoles(text.slice(0, max))}…` : text;

export const withoutHoles = (text: string): string => text.replaceAll(/\0|\p{Surrogate}/gu, "\uFFFD");

/** Any JSON value that `jsonb` keeps as it is, and that overflows nobody's stack. */
export const jsonValue = z.unknown().superRefine((value, context) => {
  for (const { path, message } of findJsonFlaws(value)) context.addIssue({ code: "custom", path, message });
});

/** The same bound as for params. */
const MAX_SCHEMA_LENGTH = 262_144;

/** A JSON Schema; one that cannot be kept as it is, or is longer than params may be, becomes `{}`, which accepts everything. */
export const keptJsonSchema = z.record(z.string(), z.unknown()).overwrite((schema) => (isKept(schema) ? schema : {}));

const isKept = (schema: object): boolean =>
  findJsonFlaws(schema).length === 0 && JSON.stringify(schema).length <= MAX_SCHEMA_LENGTH;
