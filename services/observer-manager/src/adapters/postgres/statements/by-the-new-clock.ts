import type { DataSource } from "typeorm";

const LOOKED_FOR_EACH_MS = 60_000;
const MOVED_AT_ONCE = 10_000;
/** Longer than anything is put off. */
const TOO_LATE = "interval '2 minutes'";

interface PutOff {
  table: string;
  /** Which of its rows may have been put off, as SQL. */
  which: string;
  /** The columns that say when they were wanted first, and when they are tried again, or looked for. */
  dueAt: string;
  nextAt: string;
}

/**
 * Draws back what was put off before PostgreSQL's clock was set back: it would not be tried again until the clock is there. Such rows lie
 * among those that are still to come, so that they are looked for once a minute.
 */
export class ByTheNewClock {
  readonly #dataSource: DataSource;
  readonly #sql: string;
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(dataSource: DataSource, { table, which, dueAt, nextAt }: PutOff) {
    this.#dataSource = dataSource;
    const wanted = `greatest(${dueAt}, unacked_now())`;
    this.#sql = `
      UPDATE ${table} SET ${nextAt} = ${wanted} WHERE id = ANY(ARRAY(
        SELECT id FROM ${table} WHERE ${which} AND ${nextAt} > ${wanted} + ${TOO_LATE} LIMIT ${MOVED_AT_ONCE} FOR UPDATE SKIP LOCKED))`;
  }

  async look(): Promise<void> {
    if (performance.now() < this.#nextMs) return;
    const [, moved] = await this.#dataSource.query<[unknown[], number]>(this.#sql);
    if (moved < MOVED_AT_ONCE) this.#nextMs = performance.now() + LOOKED_FOR_EACH_MS;
  }
}
