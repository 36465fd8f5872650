/** How many statements a database was sent, by pg_stat_statements: asked in another database, so that asking does not count. */
export class Statements {
  #server;
  #books;
  #database;

  /**
   * @param {import("./books.mjs").Books} server
   * @param {import("./books.mjs").Books} books
   * @param {string} database
   */
  constructor(server, books, database) {
    this.#server = server;
    this.#books = books;
    this.#database = database;
  }

  /**
   * @param {import("./rig.mjs").Rig} rig
   * @param {import("./books.mjs").Books} books
   */
  static async of(rig, books) {
    const server = await rig.openServer();
    await server.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    const [row] = await books.query("SELECT current_database() AS name");
    return new Statements(server, books, String(row?.name));
  }

  /** Statements so far, BEGIN and COMMIT among them. */
  async calls() {
    const [{ calls = 0 } = {}] = await this.#server.query(
      `SELECT coalesce(sum(calls), 0)::int AS calls FROM pg_stat_statements
       WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1) AND query NOT LIKE '%bench: own%'`,
      [this.#database],
    );
    return Number(calls);
  }

  /** Beside these: how many batches services have told. */
  async look() {
    const calls = await this.calls();
    const [{ batches = 0 } = {}] = await this.#books.query(
      "SELECT /* bench: own */ sum(last_seq)::int AS batches FROM services",
    );
    return { calls, batches: Number(batches) };
  }

  close() {
    return this.#server.close();
  }
}
