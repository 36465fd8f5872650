import { prepared } from "../statements/prepared.ts";

/** For so long a plan may be one for a table that was half as large. */
const LOOK_MS = 250;
/** Plans are made anew at least so often: what else they go by, such as the sizes of indexes, changes slowly. */
const MOST_MS = 5_000;
/** After a look that failed none is tried for so long: each would stand in the server's log. */
const BLIND_MS = 5_000;

/**
 * How often the pages of each table have doubled, as one text. If it has to wait 100 ms for a lock on one of them, the look fails.
 * https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADMIN-DBSIZE
 */
export const SIZES = prepared(`
  SELECT string_agg(oid || ' ' || floor(ln(1 + coalesce(pg_relation_size(oid), 0) / 8192.0::float8) / ln(2::float8)), ',' ORDER BY oid) AS sizes
  FROM pg_class WHERE (SELECT set_config('lock_timeout', '100', true)) IS NOT NULL AND relkind = 'r' AND relnamespace = current_schema()::regnamespace`);

/**
 * Says how long plans of prepared statements are good: PostgreSQL makes them by how large tables are, and does not look again. A plan for
 * an empty table reads all of a full one. A VACUUM or ANALYZE has them made anew by itself.
 */
export class TableSizes {
  readonly #look: () => Promise<string>;
  #epoch = 0;
  #epochFromMs = 0;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #blindUntilMs = 0;
  #isLooking = false;
  #sizes: string | undefined;

  /** @param look answers SIZES */
  constructor(look: () => Promise<string>) {
    this.#look = look;
  }

  /** To be asked whenever plans are used. @returns a number; plans that were made under another one are to be made anew */
  epochAt(nowMs = performance.now()): number {
    if (nowMs - this.#epochFromMs >= MOST_MS) this.#next(nowMs);
    if (nowMs - this.#lookedAtMs < LOOK_MS) return this.#epoch;
    this.#lookedAtMs = nowMs;
    const isBlind = this.#isLooking || nowMs < this.#blindUntilMs;
    if (isBlind) this.#next(nowMs);
    else void this.#lookNow();
    return this.#epoch;
  }

  async #lookNow(): Promise<void> {
    this.#isLooking = true;
    try {
      const sizes = await this.#look();
      if (this.#sizes !== undefined && sizes !== this.#sizes) this.#next(performance.now());
      this.#sizes = sizes;
    } catch {
      this.#blindUntilMs = performance.now() + BLIND_MS;
      this.#next(performance.now());
    } finally {
      this.#isLooking = false;
    }
  }

  #next(nowMs: number): void {
    this.#epoch += 1;
    this.#epochFromMs = nowMs;
  }
}
