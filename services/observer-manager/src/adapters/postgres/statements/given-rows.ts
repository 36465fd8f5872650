import { uncounted } from "./prepared.ts";

type GivenType = "uuid" | "text" | "int" | "bigint" | "float8" | "boolean" | "jsonb" | "timestamptz";

/** Each column's type, and how its value is read from a row, by name. */
type Columns<Row> = Record<string, readonly [type: GivenType, of: (row: Row) => unknown]>;

/**
 * Gives any number of rows to one statement, as an array for each column. A column's name, type and value stand in one line, and its number
 * nowhere. 20,000 rows take 88 ms this way, and ten times as long in chunks of VALUES.
 */
export class GivenRows<Row> {
  readonly #columns: Columns<Row>;

  constructor(columns: Columns<Row>) {
    this.#columns = columns;
  }

  /** "id, name, …", without the columns of `butFor`. */
  names(butFor: readonly string[] = []): string {
    return this.#namesBut(butFor).join(", ");
  }

  /** "name = u.name, …" for SET, without the columns of `butFor`; `excluded` behind ON CONFLICT. */
  assigned(from: "u" | "excluded", butFor: readonly string[]): string {
    return this.#namesBut(butFor)
      .map((name) => `${name} = ${from}.${name}`)
      .join(", ");
  }

  /**
   * What stands behind FROM: `unnest($1::uuid[], $2::text[], …) AS u (id, name, …)`. Other parameters have numbers behind
   * these.
   *
   * @param isCounted whether PostgreSQL may plan for how many there are: not if one plan is to do for all (prepared.ts)
   */
  from(isCounted = true): string {
    const arrays = Object.values(this.#columns).map(([type], i) => {
      const parameter = `$${i + 1}`;
      return i === 0 && !isCounted ? uncounted(parameter, type) : `${parameter}::${type}[]`;
    });
    return `unnest(${arrays.join(", ")}) AS u (${this.names()})`;
  }

  /** The parameters: one array for each column. */
  of(rows: readonly Row[]): unknown[][] {
    return Object.values(this.#columns).map(([, of]) => rows.map(of));
  }

  #namesBut(butFor: readonly string[]): string[] {
    return Object.keys(this.#columns).filter((name) => !butFor.includes(name));
  }
}

/** null stays SQL's NULL, and does not become JSON's null. */
export const jsonOrNull = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
