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

/** Wall clock in ms since the epoch, as far as a Date goes; `timestamptz` goes further. */
export const wallClockMs = z.int().min(0).max(8_640_000_000_000_000);

/** An amount in a `bigint` or `double precision` column. */
export const amount = z.number().min(0).max(Number.MAX_SAFE_INTEGER);

/** ISO 8601, in the years that `timestamptz` reads likewise. */
export const timestamp = z.iso.datetime({ offset: true }).refine((text) => !text.startsWith("0000"), "the year 0 is none");

/** For display: what PostgreSQL cannot hold (NUL, half a surrogate pair) is replaced by U+FFFD, rather than all the rest refused. */
export const shownText = (max: number) => z.string().max(max).overwrite(withoutHoles);

export const withoutHoles = (text: string): string => text.replaceAll(/\0|\p{Surrogate}/gu, "\uFFFD");

/** Any JSON value that `jsonb` keeps as it is, and that nobody's stack gives way under. */
export const jsonValue = z.unknown().superRefine((value, context) => {
  for (const { path, message } of findJsonFlaws(value)) context.addIssue({ code: "custom", path, message });
});

/** To compile one takes a millisecond for each KiB. */
const MAX_SCHEMA_LENGTH = 262_144;

/** A JSON Schema; one that cannot be kept as it is, or is longer than params may be, becomes `{}`, which accepts everything. */
export const keptJsonSchema = z.record(z.string(), z.unknown()).overwrite((schema) => (isKept(schema) ? schema : {}));

const isKept = (schema: object): boolean =>
  findJsonFlaws(schema).length === 0 && JSON.stringify(schema).length <= MAX_SCHEMA_LENGTH;
