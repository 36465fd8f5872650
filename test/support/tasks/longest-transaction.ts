import pg from "pg";
import { onTestFinished } from "vitest";

const EVERY_MS = 100;

/**
 * Of this database's clients (a vacuum gives way to whoever waits for it), but for who asks and who has said that he reads for long.
 * A client that rests has none, although one is seen for an instant where its server process catches up with others' changes of the
 * catalog (`ProcessCatchupInterrupt`), and that one is said to have begun when its last statement did.
 */
const OPEN = `
  SELECT extract(epoch FROM clock_timestamp() - xact_start)::float8 * 1000 AS ms, left(query, 300) AS statement, state
  FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND xact_start IS NOT NULL AND state <> 'idle' AND pid <> pg_backend_pid() AND application_name <> $1
  ORDER BY xact_start LIMIT 1`;

/** A transaction of nothing that waits for the disk as every other does. */
const BARE_COMMIT = "SELECT pg_logical_emit_message(true, 'a-bare-client', '')";

/** What a test's own reader calls itself, whose transaction does not count. */
export const LONG_READER = "a-long-reader";

export interface Longest {
  ms: number;
  statement: string;
  looks: number;
  /** The longest that a bare client, beside it on the same disk, waited for a commit of nothing or came late to it. */
  bareMs: number;
}

/** Its own transactions are no one's to answer for. */
const bareOf = (connectionString: string) => ({ connectionString, application_name: LONG_READER });

/** Looks ten times a second for which transaction is open for the longest time. */
export class LongestTransaction {
  readonly #client: pg.Client;
  readonly #bare: pg.Client;
  readonly #timer: NodeJS.Timeout;
  #ms = 0;
  #statement = "";
  #looks = 0;
  #looking = Promise.resolve();
  #bareMs = 0;
  #committing: Promise<void> | undefined;

  private constructor(client: pg.Client, bare: pg.Client) {
    this.#client = client;
    this.#bare = bare;
    let lastMs = performance.now();
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      this.#bareMs = Math.max(this.#bareMs, nowMs - lastMs - EVERY_MS);
      lastMs = nowMs;
      this.#looking = this.#looking.then(() => this.#look());
      this.#committing ??= this.#commitNothing();
    }, EVERY_MS);
  }

  static async watch(databaseUrl: string): Promise<LongestTransaction> {
    const [client, bare] = [new pg.Client({ connectionString: databaseUrl }), new pg.Client(bareOf(databaseUrl))];
    await Promise.all([client.connect(), bare.connect()]);
    const watch = new LongestTransaction(client, bare);
    onTestFinished(() => clearInterval(watch.#timer));
    return watch;
  }

  async end(): Promise<Longest> {
    clearInterval(this.#timer);
    await Promise.all([this.#looking, this.#committing]);
    await Promise.all([this.#client.end(), this.#bare.end()]);
    const [ms, bareMs] = [Math.round(this.#ms), Math.round(this.#bareMs)];
    return { ms, statement: this.#statement, looks: this.#looks, bareMs };
  }

  async #commitNothing(): Promise<void> {
    const beganMs = performance.now();
    await this.#bare.query(BARE_COMMIT);
    this.#bareMs = Math.max(this.#bareMs, performance.now() - beganMs);
    this.#committing = undefined;
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
