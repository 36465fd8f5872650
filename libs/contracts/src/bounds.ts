import { z } from "zod";
import { findJsonFlaws } from "./json-flaws.ts";

/**
 * What the columns of the books can hold. Whatever a message brings there is bounded here: a value that PostgreSQL refuses would
 * cost its whole transaction.
 */

/** PostgreSQL's `integer`. */
export const MAX_INT4 = 2_147_483_647;

/** A count in an `integer` column. */
export const count = (min: number) => z.int().min(min).max(MAX_INT4);

/** The year 1: PostgreSQL has no year 0, and writes what comes before with a BC. */
const FIRST_TIME_MS = Date.parse("0001-01-01T00:00:00Z");

/** The year 9999: from then on a clock that is ahead of UTC may show a year of five digits, which neither ISO 8601 nor JSON Schema's `date-time` knows. */
export const END_OF_TIMES_MS = Date.UTC(9999);

/**
 * Wall clock in ms since the epoch. As far as a Date goes is taken, as services say it by their own clock; what is beyond all times is
 * their end, so that it can be shown.
 */
export const wallClockMs = z
  .int()
  .min(0)
  .max(8_640_000_000_000_000)
  .overwrite((ms) => Math.min(ms, END_OF_TIMES_MS - 1));

/** An amount in a `bigint` or `double precision` column. */
export const amount = z.number().min(0).max(Number.MAX_SAFE_INTEGER);

/** The hours of an offset that PostgreSQL takes; ISO 8601 goes up to 23. */
const MAX_OFFSET_HOURS = 15;

/** With any fraction of a second that means something; PostgreSQL gives up on longer ones. */
const MAX_TIMESTAMP = 64;

/** ISO 8601, of what PostgreSQL reads and every answer can show: one that it refuses would cost all that is written, or read, with it. */
export const timestamp = z.iso
  .datetime({ offset: true })
  .max(MAX_TIMESTAMP)
  .refine(isWithinTimes, "must be in the years 1 to 9998 in UTC")
  .refine(hasNearOffset, `must have an offset of at most ${MAX_OFFSET_HOURS}:59, such as +02:00, or Z`);

/** What is no time at all is told by its format. */
function isWithinTimes(text: string): boolean {
  const ms = Date.parse(text);
  return Number.isNaN(ms) || (ms >= FIRST_TIME_MS && ms < END_OF_TIMES_MS && !text.startsWith("0000"));
}

function hasNearOffset(text: string): boolean {
  const hours = /[+-](\d\d):?\d\d$/.exec(text)?.[1];
  return hours === undefined || Number(hours) <= MAX_OFFSET_HOURS;
}

/** For display: what PostgreSQL cannot hold (NUL, half a surrogate pair) is replaced by U+FFFD, rather than all the rest refused. */
export const shownText = (max: number) => z.string().max(max).overwrite(withoutHoles);

export const withoutHoles = (text: string): string => text.replaceAll(/\0|\p{Surrogate}/gu, "\uFFFD");

/** Any JSON value that `jsonb` keeps as it is, and that nobody's stack gives way under. */
export const jsonValue = z.unknown().superRefine((value, context) => {
  for (const { path, message } of findJsonFlaws(value)) context.addIssue({ code: "custom", path, message });
});

/** As params themselves. */
const MAX_SCHEMA_LENGTH = 262_144;

/** A JSON Schema; one that cannot be kept as it is, or is longer than params may be, becomes `{}`, which accepts everything. */
export const keptJsonSchema = z.record(z.string(), z.unknown()).overwrite((schema) => (isKept(schema) ? schema : {}));

const isKept = (schema: object): boolean =>
  findJsonFlaws(schema).length === 0 && JSON.stringify(schema).length <= MAX_SCHEMA_LENGTH;
