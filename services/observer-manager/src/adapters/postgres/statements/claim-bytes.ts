/**
 * One claim reads at most so many bytes of what may be long, but at least one row, however many it has claimed: two thousand starts, or
 * five hundred schedules, of 256 KiB each are more than a manager has memory for, and the next one would claim the same. Each byte is in
 * memory several times, as text and as objects.
 */
export const MAX_CLAIM_BYTES = 16_777_216;

/** Adds to each row of `found` how many bytes come before it in this order. @param found SQL of rows that have `bytes` (page-bytes.ts) */
export const withBytesBefore = (found: string, order: string): string =>
  `SELECT *, sum(bytes) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before FROM (${found}) found`;
