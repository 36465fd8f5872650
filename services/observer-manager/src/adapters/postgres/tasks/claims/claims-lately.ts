/** Claims of a type with a rate are at least so far apart, so that a second has at most 200 of them. */
export const APART = "interval '5 milliseconds'";

/**
 * Whether a claim counts for the rate of its type: it is of the last second, or of the next one, as PostgreSQL's clock may have been put
 * right by less. A later one was made by a clock that has been set back: if it counted, the rate would stand still until the clock is there
 * again. @param at, now as SQL
 */
export const isLately = (at: string, now: string): string =>
  `${at} > ${now} - interval '1 second' AND ${at} < ${now} + interval '1 second'`;

/** How many tasks of a row of task_types were claimed in the last second. @param limits, now as SQL */
export const claimsLately = (limits: string, now: string): string => `(
  SELECT coalesce(sum(count), 0)::int FROM unnest(${limits}.claimed_at, ${limits}.claimed) AS c (at, count)
  WHERE ${isLately("at", now)})`;

/** When the last of these claims was. @param claimedAt, now as SQL */
export const lastOf = (claimedAt: string, now: string): string =>
  `(SELECT max(c) FROM unnest(${claimedAt}) c WHERE ${isLately("c", now)})`;
