/** Claims of a type with a rate are so far apart, so that a second of them has at most 200 entries. */
export const APART = "interval '5 milliseconds'";

/**
 * Whether a claim counts for the rate of its type: it is of the last second, or of the next one, as PostgreSQL's clock may have been put right by less.
 * What is later was claimed by a clock that has been set back: a rate would stand still until it is there again. @param at, now as SQL
 */
export const isLately = (at: string, now: string): string =>
  `${at} > ${now} - interval '1 second' AND ${at} < ${now} + interval '1 second'`;

/** The claims of the last second, of a row of task_types. @param limits, now as SQL */
export const claimsLately = (limits: string, now: string): string => `(
  SELECT coalesce(sum(count), 0)::int FROM unnest(${limits}.claimed_at, ${limits}.claimed) AS c (at, count)
  WHERE ${isLately("at", now)})`;

/** When the last of these was. @param claimedAt, now as SQL */
export const lastOf = (claimedAt: string, now: string): string =>
  `(SELECT max(c) FROM unnest(${claimedAt}) c WHERE ${isLately("c", now)})`;
