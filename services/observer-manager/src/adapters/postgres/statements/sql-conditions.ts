/** A time from whole microseconds: exact, as a double holds them until the year 2255. */
export const TIME_OF_MICROS = "(timestamptz 'epoch' + ?::bigint * interval '1 microsecond')";

/** Conditions of a WHERE with their parameters, numbered as they come. Values are never part of the text. */
export class SqlConditions {
  readonly #conditions: string[] = [];
  readonly parameters: unknown[] = [];

  /** @param condition SQL in which each `?` stands for the next of `values`. It must hold no other question mark. */
  and(condition: string, ...values: unknown[]): this {
    const marks = values[Symbol.iterator]();
    this.#conditions.push(condition.replaceAll("?", () => this.parameter(marks.next().value)));
    return this;
  }

  /** Adds a value and answers its placeholder (`$3`). */
  parameter(value: unknown): string {
    this.parameters.push(value);
    return `$${this.parameters.length}`;
  }

  get where(): string {
    return this.whereAlso(undefined);
  }

  /** @param condition of one part of the statement, as SQL */
  whereAlso(condition: string | undefined): string {
    const all = condition === undefined ? this.#conditions : [condition, ...this.#conditions];
    return all.length === 0 ? "" : `WHERE ${all.join(" AND ")}`;
  }
}

/** Words of our own as the members of an IN list. */
export const literals = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(", ");

/** Text that is to be taken literally within a LIKE pattern (with the default escape character, a backslash). */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (character) => `\\${character}`);
}
