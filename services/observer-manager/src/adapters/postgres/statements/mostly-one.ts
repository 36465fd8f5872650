/**
 * A parameter for `unnest` beside longer arrays, for a column whose values are mostly all the same, and never null: of these the first alone.
 * `unnest` fills a shorter array up with nulls, and `givenOnce` puts the first in their place: it is written, sent and read once.
 */
export const mostlyOne = <Value>(values: Value[]): Value[] => {
  const [first] = values;
  return values.every((value) => value === first) ? values.slice(0, 1) : values;
};

/** The column of such a parameter, as SQL. */
export const givenOnce = (column: string, parameter: string): string =>
  `coalesce(${column}, (${parameter})[1]) AS ${column}`;
