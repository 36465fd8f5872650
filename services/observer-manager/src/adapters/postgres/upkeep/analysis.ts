import type { DataSource } from "typeorm";

const LEAST_APART_MS = 5_000;
/** It analyzes for one part in so many of the time at most. */
const SHARE = 50;

/**
 * Whether so many rows have changed since the last analysis that autovacuum would make another, by its defaults.
 * https://www.postgresql.org/docs/current/routine-vacuuming.html#AUTOVACUUM
 */
const IS_STALE = `
  SELECT s.n_mod_since_analyze > 50 + 0.1 * greatest(0, c.reltuples) AS "isStale"
  FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid WHERE c.oid = $1::regclass`;

/**
 * Renews what PostgreSQL knows of a table where that may be why something is slow. It does so itself, once a minute at most. Where it last
 * found the table empty, as it does before any burst, each claim read and sorted all that waited until then: 0.4 s beside a million. A role
 * that does not own the table is refused with a notice.
 */
export class Analysis {
  readonly #dataSource: DataSource;
  readonly #table: string;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(dataSource: DataSource, table: "tasks") {
    this.#dataSource = dataSource;
    this.#table = table;
  }

  /** Something was slow. Never rejects. @returns whether the statistics were out of date, and are new */
  async renew(): Promise<boolean> {
    if (performance.now() < this.#notBeforeMs) return false;
    const beganMs = performance.now();
    this.#notBeforeMs = Number.POSITIVE_INFINITY;
    const isRenewed = await this.#renewIfStale().catch(() => false);
    const endedMs = performance.now();
    this.#notBeforeMs = endedMs + Math.max(LEAST_APART_MS, SHARE * (endedMs - beganMs));
    return isRenewed;
  }

  async #renewIfStale(): Promise<boolean> {
    const [row] = await this.#dataSource.query<{ isStale: boolean }[]>(IS_STALE, [this.#table]);
    if (row?.isStale !== true) return false;
    await this.#dataSource.query(`ANALYZE (SKIP_LOCKED) ${this.#table}`);
    return true;
  }
}
