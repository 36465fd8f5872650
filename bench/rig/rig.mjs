import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { removePostgresData, startPostgres } from "../../scripts/servers/postgres.mjs";
import { startRabbitmq } from "../../scripts/servers/rabbitmq.mjs";
import { Meter } from "../meter/meter.mjs";
import { Books } from "./books.mjs";
import { Management } from "./management.mjs";
import { Programs } from "./programs.mjs";

/** The default of 5 s would tell no better than that when a queue is empty; a queue's counters are cheap to write. */
const BROKER_CONFIG = { collect_statistics_interval: 250 };
const DATABASE_CONFIG = { shared_preload_libraries: "pg_stat_statements" };

/**
 * The private servers of one run of the benchmark, as `npm start` has them (a database that waits for the disk, a broker that
 * writes to it), and what is started beside them. Each scenario takes a vhost and a database of its own.
 */
export class Rig {
  meter = new Meter();
  #dir = mkdtempSync(join(tmpdir(), "unacked-bench-"));
  #socket = join(this.#dir, "meter");
  /** @type {import("../../scripts/servers/rabbitmq.mjs").Rabbitmq | undefined} */
  #broker;
  /** @type {import("../../scripts/servers/postgres.mjs").Postgres | undefined} */
  #database;
  /** @type {string[]} */
  #fresh = [];
  programs = new Programs(join(this.#dir, "logs"));

  async start() {
    await this.meter.listen(this.#socket);
    [this.#broker, this.#database] = await Promise.all([
      startRabbitmq({ dir: join(this.#dir, "rabbitmq"), config: BROKER_CONFIG }),
      startPostgres({ dir: join(this.#dir, "postgres"), config: DATABASE_CONFIG }),
    ]);
  }

  async stop() {
    await this.programs.endAll();
    this.meter.close();
    await this.#broker?.kill(); // an orderly stop takes 6 s, for data that goes anyway
    await this.#broker?.stop();
    await this.#database?.stop();
    removePostgresData(join(this.#dir, "postgres"));
    if (process.env.BENCH_PROFILE === undefined) rmSync(this.#dir, { recursive: true, force: true, maxRetries: 3 });
  }

  get dir() {
    return this.#dir;
  }

  /** For the processes under measurement. */
  get env() {
    return { BENCH_METER: this.#socket };
  }

  get broker() {
    if (this.#broker === undefined) throw new Error("The rig's broker was not started.");
    return this.#broker;
  }

  get database() {
    if (this.#database === undefined) throw new Error("The rig's database was not started.");
    return this.#database;
  }

  get management() {
    return new Management(this.broker.managementUrl);
  }

  freshVhost() {
    return this.management.freshVhost(this.broker.amqpUrl);
  }

  /** @returns {Promise<string>} the URL of an empty database */
  async freshDatabase() {
    const name = `bench_${randomBytes(4).toString("hex")}`;
    await this.#tell(`CREATE DATABASE ${name}`);
    this.#fresh.push(name);
    const url = new URL(this.database.databaseUrl);
    url.pathname = `/${name}`;
    return url.href;
  }

  /**
   * Between two that are measured one after the other: the tables of the first are dropped, its pages written. They would be vacuumed and written
   * beside the second.
   */
  async dropDatabases() {
    for (const name of this.#fresh.splice(0)) await this.#tell(`DROP DATABASE ${name} WITH (FORCE)`);
    await this.#tell("CHECKPOINT");
  }

  async #tell(/** @type {string} */ statement) {
    const client = new pg.Client({ connectionString: this.database.databaseUrl });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  /** The server's own first database, for what concerns them all. */
  openServer() {
    return Books.open(this.database.databaseUrl);
  }
}
