import pg from "pg";
import { waitUntil } from "./wait-until.mjs";

/** The database of the system under measurement, looked at past the manager, so that looking does not load it. */
export class Books {
  #client;

  /** @param {pg.Pool} client connected */
  constructor(client) {
    this.#client = client;
  }

  /** @param {string} databaseUrl */
  static async open(databaseUrl) {
    const client = new pg.Pool({
      connectionString: databaseUrl,
      application_name: "unacked-bench",
      max: 4,
      idleTimeoutMillis: 0,
    });
    client.on("error", () => undefined); // the server was ended
    await client.query("SELECT"); // that it can be reached
    return new Books(client);
  }

  /**
   * @param {string} sql
   * @param {unknown[]} [parameters]
   * @returns {Promise<Record<string, any>[]>}
   */
  async query(sql, parameters) {
    return (await this.#client.query(sql, parameters)).rows;
  }

  /**
   * Resolves to when `count` observers had this status, and none one of `noMore`. Looked for by the latter, as an index tells
   * at once that there is none; the count is taken once, at the end.
   *
   * @param {string} status
   * @param {number} count
   * @param {string[]} noMore
   * @param {number} [timeoutMs]
   */
  async until(status, count, noMore, timeoutMs) {
    const isOver = async () =>
      (await this.query("SELECT FROM observers WHERE status = ANY($1) LIMIT 1", [noMore])).length === 0;
    for (;;) {
      const atMs = await waitUntil(`no observer in ${noMore}`, isOver, { timeoutMs });
      const counted = await this.count(status);
      if (counted === count) return atMs;
      if (counted > count) throw new Error(`${counted} observers are ${status}, more than the ${count} there should be`);
    }
  }

  /** @param {string} status */
  async count(status) {
    const [row] = await this.query("SELECT count(*)::int AS count FROM observers WHERE status = $1", [status]);
    return Number(row?.count);
  }

  /** Resolves to when every observer of `count` was Processing, and none of them on the service of this process. @param {number} count @param {number} deadPid */
  untilMovedFrom(count, deadPid) {
    return this.untilMovedFromAll(count, [deadPid]);
  }

  /** The same of several. @param {number} count @param {number[]} deadPids @param {number} [timeoutMs] */
  async untilMovedFromAll(count, deadPids, timeoutMs) {
    const sql = `SELECT FROM observers o WHERE o.status IN ('Redistributing', 'Created')
                 OR (o.current_service_id IN (SELECT id FROM services WHERE pid = ANY($1))) LIMIT 1`;
    const atMs = await waitUntil(
      "the books to have every observer elsewhere",
      async () => (await this.query(sql, [deadPids])).length === 0,
      { timeoutMs },
    );
    const counted = await this.count("Processing");
    if (counted !== count) throw new Error(`${counted} observers are Processing instead of ${count}`);
    return atMs;
  }

  close() {
    return this.#client.end();
  }
}
