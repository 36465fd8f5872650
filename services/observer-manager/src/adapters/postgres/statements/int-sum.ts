/** The largest `integer` of PostgreSQL. What services say of themselves may add up to more. */
export const MAX_INT = 2_147_483_647;

/**
 * The sum of a column as an `integer`, as SQL. A larger sum becomes MAX_INT, where a cast would refuse the whole statement.
 *
 * @param column, and of which rows, as SQL. The sum of no rows is 0.
 */
export const intSum = (column: string, of = "true"): string =>
  `least(coalesce(sum(${column}) FILTER (WHERE ${of}), 0), ${MAX_INT})::int`;

/** A column plus what is added to it, both of them an `integer`, with the same limit. */
export const intPlus = (column: string, added: string): string => `least(${column}::bigint + ${added}, ${MAX_INT})`;
