import { randomBytes } from "node:crypto";

/** The broker's management API, as far as the benchmark needs it. */
export class Management {
  #api;
  #headers;

  /** @param {string} url with user and password */
  constructor(url) {
    const { username, password, origin } = new URL(url);
    this.#api = `${origin}/api`;
    this.#headers = {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
      "content-type": "application/json",
    };
  }

  /** @returns {Promise<string>} */
  async version() {
    return (await this.#call("GET", "/overview")).rabbitmq_version;
  }

  /** An empty vhost. @param {string} amqpUrl @returns {Promise<{ amqpUrl: string, vhost: string }>} */
  async freshVhost(amqpUrl) {
    const vhost = `bench_${randomBytes(4).toString("hex")}`;
    await this.#call("PUT", `/vhosts/${vhost}`, "{}");
    await this.#call("PUT", `/permissions/${vhost}/guest`, JSON.stringify({ configure: ".*", write: ".*", read: ".*" }));
    return { amqpUrl: `${amqpUrl.replace(/\/*$/, "")}/${vhost}`, vhost };
  }

  /** @param {string} vhost */
  async deleteVhost(vhost) {
    await this.#call("DELETE", `/vhosts/${vhost}`);
  }

  /**
   * What is in a queue by its own counters, which it writes each `collect_statistics_interval`.
   *
   * @param {string} vhost
   * @param {string} queue
   * @returns {Promise<number>} ready and unacked together
   */
  async messages(vhost, queue) {
    const queues = await this.#call("GET", `/queues/${vhost}?disable_stats=true&enable_queue_totals=true`);
    return queues.find((/** @type {{ name: string }} */ each) => each.name === queue)?.messages ?? 0;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {string} [body]
   */
  async #call(method, path, body) {
    const response = await fetch(`${this.#api}${path}`, { method, headers: this.#headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`RabbitMQ's management answered ${response.status} to ${method} ${path}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }
}
