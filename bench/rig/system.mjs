import { workQueueName } from "../../libs/contracts/dist/index.js";
import { freePort } from "../../scripts/servers/free-port.mjs";
import { Books } from "./books.mjs";
import { Rest } from "./rest.mjs";
import { waitUntil } from "./wait-until.mjs";

/** @typedef {import("./programs.mjs").Program} Program */

/** What one POST may carry. */
const BATCH = 10_000;

/**
 * Unacked as its users run it, built and as whole processes: a manager, and services that have the type `wait` alone.
 * Ended with the rig's programs.
 */
export class System {
  /** @type {Program} */
  manager;
  /** @type {Rest} */
  rest;
  /** @type {Books} */
  books;
  #rig;
  #vhost;
  #env;
  #databaseUrl;
  #created = 0;

  /**
   * @param {import("./rig.mjs").Rig} rig
   * @param {{ vhost: string, env: Record<string, string>, databaseUrl: string, manager: Program, rest: Rest, books: Books }} parts
   */
  constructor(rig, { vhost, env, databaseUrl, manager, rest, books }) {
    this.#rig = rig;
    this.#vhost = vhost;
    this.#env = env;
    this.#databaseUrl = databaseUrl;
    this.manager = manager;
    this.rest = rest;
    this.books = books;
  }

  /** A vhost, a database and a manager on them. @param {import("./rig.mjs").Rig} rig */
  static async start(rig) {
    const { amqpUrl, vhost } = await rig.freshVhost();
    const databaseUrl = await rig.freshDatabase();
    const env = { ...rig.env, AMQP_URL: amqpUrl, HOST: "127.0.0.1", NODE_ENV: "production" };
    const { manager, url } = await startManager(rig, "manager", { ...env, DATABASE_URL: databaseUrl });
    const books = await Books.open(databaseUrl);
    return new System(rig, { vhost, env, databaseUrl, manager, rest: new Rest(url), books });
  }

  /** One more, which is ready. @param {string} name */
  async startManager(name) {
    return (await startManager(this.#rig, name, { ...this.#env, DATABASE_URL: this.#databaseUrl })).manager;
  }

  get amqpUrl() {
    return this.#env.AMQP_URL ?? "";
  }

  /**
   * @param {string} name
   * @param {number} workers
   * @param {Record<string, string>} [env]
   * @returns {Promise<Program & { url: string }>} when the books know it
   */
  async startService(name, workers, env = {}) {
    const port = await freePort();
    const service = await this.#rig.programs.start(name, {
      file: "services/observer-service/bundle/main.js",
      env: {
        ...this.#env,
        SERVICE_NAME: name,
        WORKER_COUNT: String(workers),
        OBSERVERS_DIR: "bench/observers",
        PORT: String(port),
        ...env,
      },
      isReady: () => isReady(`http://127.0.0.1:${port}`),
    });
    for (let known = 0; known === 0; )
      known = (await this.books.query("SELECT FROM services WHERE pid = $1 AND types <> '[]'", [service.pid])).length;
    return { ...service, url: `http://127.0.0.1:${port}` };
  }

  /** The bodies of POSTs for so many observers of names never used before, one a batch. @param {number} count @param {object} [more] */
  batchBodies(count, more = {}) {
    const bodies = [];
    for (let left = count; left > 0; left -= BATCH) {
      const observers = Array.from({ length: Math.min(BATCH, left) }, () => this.observer(more));
      bodies.push(JSON.stringify({ observers }));
    }
    return bodies;
  }

  /** One of a name never used before. @param {object} [more] */
  observer(more = {}) {
    this.#created += 1;
    return { name: `observer-${this.#created}`, type: "wait", params: {}, ...more };
  }

  /** Creates them, and waits until all run and stand so in the books. @param {number} count */
  async create(count) {
    const watch = this.#rig.meter.watch();
    const before = await this.books.count("Processing");
    for (const body of this.batchBodies(count)) await this.rest.createMany("observers", body);
    await watch.untilStarted(count);
    watch.end();
    await this.books.until("Processing", before + count, ["Created"]);
  }

  /** @param {string} type @param {string[]} names @returns {Promise<string>} the id of the last of them */
  async createTasks(type, names) {
    const body = JSON.stringify({ tasks: names.map((name) => ({ type, params: { name } })) });
    const { text } = await this.rest.createMany("tasks", body);
    return JSON.parse(text).results.at(-1).task.id;
  }

  /**
   * A service that has run so many before, and holds none: V8 has compiled what it runs often. Nothing else may have a free worker meanwhile.
   *
   * @param {Program} service
   * @param {string} name its own
   * @param {number} count
   */
  async warmUp(service, name, count) {
    const watch = this.#rig.meter.watch([service.pid]);
    const [before, gone] = [await this.books.count("Processing"), await this.books.count("Deleted")];
    for (const body of this.batchBodies(count)) await this.rest.createMany("observers", body);
    await watch.untilStarted(count);
    watch.end();
    await this.books.until("Processing", before + count, ["Created"]);
    const body = JSON.stringify({ filter: { service: name } });
    await this.rest.expect(200, "POST", "/api/v1/observers/stop", body);
    await this.books.until("Deleted", gone + count, ["OnDeleting"]);
  }

  /** Stops all, and waits until nothing of them is left but their rows. */
  async stopAll() {
    // One that the books have as Created would be refused.
    await waitUntil("no observer to be Created", async () => (await this.books.count("Created")) === 0);
    await this.rest.expect(200, "POST", "/api/v1/observers/stop", JSON.stringify({ all: true }));
    await this.books.until("Processing", 0, ["Created", "Processing", "OnDeleting"]);
  }

  /** Ready and unacked messages of the work queue, a quarter of a second behind. */
  async queued() {
    return await this.#rig.management.messages(this.#vhost, workQueueName("default"));
  }

  async close() {
    this.rest.close();
    await this.books.close();
    await this.#rig.programs.endAll();
    await this.#rig.management.deleteVhost(this.#vhost);
  }
}

/** @param {import("./rig.mjs").Rig} rig @param {string} name @param {Record<string, string>} env */
async function startManager(rig, name, env) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const manager = await rig.programs.start(name, {
    file: "services/observer-manager/bundle/main.js",
    env: { ...env, PORT: String(port) },
    isReady: () => isReady(url),
  });
  return { manager, url };
}

/** @param {string} url */
async function isReady(url) {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false; // not listening yet
  }
}
