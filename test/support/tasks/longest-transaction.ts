import pg from "pg";
import { onTestFinished } from "vitest";

const EVERY_MS = 100;

/** Of this database's clients (a vacuum gives way to whoever waits for it), but for who asks and who has said that he reads for long. */
const OPEN = `
  SELECT extract(epoch FROM clock_timestamp() - xact_start)::float8 * 1000 AS ms, left(query, 300) AS statement, state
  FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND xact_start IS NOT NULL AND pid <> pg_backend_pid() AND application_name <> $1
  ORDER BY xact_start LIMIT 1`;

/** What a test's own reader calls itself, whose transaction does not count. */
export const LONG_READER = "a-long-reader";

/** Looks ten times a second for which transaction is open for the longest time. */
export class LongestTransaction {
  readonly #client: pg.Client;
  readonly #timer: NodeJS.Timeout;
  #ms = 0;
  #statement = "";
  #looks = 0;
  #looking = Promise.resolve();

  private constructor(client: pg.Client) {
    this.#client = client;
    this.#timer = setInterval(() => {
      this.#looking = this.#looking.then(() => this.#look());
    }, EVERY_MS);
  }

  static async watch(databaseUrl: string): Promise<LongestTransaction> {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const watch = new LongestTransaction(client);
    onTestFinished(() => clearInterval(watch.#timer));
    return watch;
  }

  async end(): Promise<{ ms: number; statement: string; looks: number }> {
    clearInterval(this.#timer);
    await this.#looking;
    await this.#client.end();
    return { ms: Math.round(this.#ms), statement: this.#statement, looks: this.#looks };
  }

  async #look(): Promise<void> {
    const { rows } = await this.#client.query<{ ms: number; statement: string; state: string }>(OPEN, [LONG_READER]);
    this.#looks += 1;
    const [oldest] = rows;
    if (oldest === undefined || oldest.ms <= this.#ms) return;
    this.#ms = oldest.ms;
    this.#statement = `${oldest.state}: ${oldest.statement}`;
  }
}
