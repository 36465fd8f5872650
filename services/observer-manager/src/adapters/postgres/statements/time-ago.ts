/**
 * A time in the future was written by a clock that has been set back since. It counts as long ago: else who waits for it would wait until
 * the clock is there again.
 */
export const IN_THE_FUTURE = "> now() + interval '1 minute'";

/** How long ago a time was, in ms, as SQL. */
export const AGO_MS = (column: string): string =>
  `CASE WHEN ${column} ${IN_THE_FUTURE} THEN 1e12::float8 ELSE (extract(epoch FROM now() - ${column}) * 1000)::float8 END`;
