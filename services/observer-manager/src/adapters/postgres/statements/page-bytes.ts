/**
 * A page has at most so many bytes of what may be long, but at least one row: a thousand rows of 256 KiB are more than a manager has memory
 * for, and who reads them would end the calls of all others with it.
 */
export const MAX_PAGE_BYTES = 8_388_608;

/** An uncompressed value is as long as it is stored, and need not be looked into. */
const bytesOf = (column: string): string =>
  `CASE WHEN pg_column_compression(${column}) IS NULL THEN pg_column_size(${column}) ELSE octet_length(${column}::text) END`;

/** The bytes of all these columns of a row. */
export const bytesOfAll = (columns: readonly string[]): string =>
  columns.map((column) => `coalesce(${bytesOf(column)}, 0)`).join(" + ");

/** A row of a page that is cut: `found` is the number of rows before the cut, `bytes` those of its large columns. */
export interface CutRow {
  found: number;
  bytes: number;
}

/**
 * A page without its last rows, where it would be longer than MAX_PAGE_BYTES.
 * @param rows SQL of the page, in `order`. @param large its columns that may be long, none of which is new; @param order of its columns
 */
export function cutToBytes(rows: string, large: readonly string[], order: string): string {
  return `
    SELECT * FROM (
      SELECT *, count(*) OVER ()::int AS found, sum(bytes) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before
      FROM (SELECT *, ${bytesOfAll(large)} AS bytes FROM (${rows}) page) sized) cut
    WHERE bytes_before < ${MAX_PAGE_BYTES} ORDER BY ${order}`;
}

/** Those of these ids, in their order, that lie beyond MAX_PAGE_BYTES. */
export function thoseBeyond(ids: readonly string[], sizes: readonly { id: string; bytes: number }[]): ReadonlySet<string> {
  const bytesOf = new Map(sizes.map(({ id, bytes }) => [id, bytes]));
  let sum = 0;
  return new Set(
    ids.filter((id) => {
      sum += bytesOf.get(id) ?? 0;
      return sum > MAX_PAGE_BYTES;
    }),
  );
}
