/**
 * A parameter for `unnest` beside longer arrays: empty if all values are null, as `unnest` fills a shorter array up with nulls
 * (https://www.postgresql.org/docs/current/queries-table-expressions.html#QUERIES-TABLEFUNCTIONS). They need not be written, sent and read.
 */
export const mostlyNull = <Value>(values: (Value | null)[]): (Value | null)[] =>
  values.every((value) => value === null) ? [] : values;
