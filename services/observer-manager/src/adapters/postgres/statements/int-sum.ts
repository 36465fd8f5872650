/** PostgreSQL's `integer` ends here; what services say of themselves is not believed to add up to less. */
export const MAX_INT = 2_147_483_647;

/**
 * The sum of a column as an `integer`, as SQL. A sum beyond that is as much as there can be, where a cast would refuse the whole statement.
 *
 * @param column, and of which rows, as SQL. Of none it is 0.
 */
export const intSum = (column: string, of = "true"): string =>
  `least(coalesce(sum(${column}) FILTER (WHERE ${of}), 0), ${MAX_INT})::int`;

/** A column and what is added to it, both of them an `integer`, likewise. */
export const intPlus = (column: string, added: string): string => `least(${column}::bigint + ${added}, ${MAX_INT})`;
