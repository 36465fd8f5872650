import type { DataSource } from "typeorm";

/** Fewer may well be compared each with each. */
const LEAST_ROWS = 500;

/**
 * Those of the tables $1 that were empty when they were last vacuumed or analyzed, and have kept pages: of one without any, PostgreSQL
 * guesses better.
 */
const THOUGHT_EMPTY = `
  SELECT oid::regclass::text AS name FROM pg_class WHERE oid = ANY($1::regclass[]) AND reltuples = 0 AND relpages > 0`;

/**
 * For tables that are empty for days and then hold thousands of rows. Where a vacuum or an analysis has found one empty, PostgreSQL plans for one row
 * until the next, however many there are by then, and joins by a loop through all of both sides: flows of 3,000 tasks took 20 times as long.
 * So once some hundreds are added, such a table is analyzed, which takes some 50 ms. (What is on a path of thousands a second is written so that
 * it does not matter: tasks/ledger/told-words.ts.)
 */
export class Statistics {
  readonly #dataSource: DataSource;
  readonly #tables: readonly string[];
  #rows = 0;

  /** @param tables their names, which are constants */
  constructor(dataSource: DataSource, tables: readonly string[]) {
    this.#dataSource = dataSource;
    this.#tables = tables;
  }

  /** So many rows were added, and committed. Never rejects. */
  async grown(rows: number): Promise<void> {
    this.#rows += rows;
    if (this.#rows < LEAST_ROWS) return;
    this.#rows = 0;
    await this.#analyze().catch(() => undefined); // plans are worse then, and not wrong
  }

  async #analyze(): Promise<void> {
    for (const { name } of await this.#dataSource.query<{ name: string }[]>(THOUGHT_EMPTY, [this.#tables]))
      await this.#dataSource.query(`ANALYZE (SKIP_LOCKED) ${name}`);
  }
}
