import { Agent, request } from "node:http";
import { nowMs } from "../meter/clock.mjs";

/** @typedef {{ status: number, text: string, sentMs: number, answeredMs: number }} Answer times: CLOCK_MONOTONIC, ms */

/** Sooner than the manager closes a connection that nobody uses: else a call could be on its way to one that it just closed. */
const IDLE_MS = 2_000;

/** Calls a manager over connections that stay open. */
export class Rest {
  #agent;
  #url;

  /**
   * @param {string} url
   * @param {number} [connections]
   */
  constructor(url, connections = 32) {
    this.#url = url;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: IDLE_MS });
  }

  /**
   * Answers with the body as text: what it takes to decode it is the client's business.
   *
   * @param {"GET" | "POST" | "PATCH" | "DELETE"} method
   * @param {string} path
   * @param {string} [body] JSON
   * @param {Record<string, string>} [more] headers
   * @returns {Promise<Answer>}
   */
  call(method, path, body, more = {}) {
    return new Promise((resolve, reject) => {
      const headers = {
        ...more,
        ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
      };
      const sentMs = nowMs();
      const call = request(`${this.#url}${path}`, { method, agent: this.#agent, headers }, (response) => {
        /** @type {Buffer[]} */
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString(), sentMs, answeredMs: nowMs() }),
        );
      });
      call.once("error", reject);
      call.end(body);
    });
  }

  /**
   * The same, and throws unless the status is the one expected.
   *
   * @param {number} expected
   * @param {"GET" | "POST" | "PATCH" | "DELETE"} method
   * @param {string} path
   * @param {string} [body]
   * @param {Record<string, string>} [more] headers
   */
  async expect(expected, method, path, body, more) {
    const answer = await this.call(method, path, body, more);
    if (answer.status === expected) return answer;
    throw new Error(`${method} ${path} answered ${answer.status} instead of ${expected}: ${answer.text.slice(0, 500)}`);
  }

  /**
   * Creates many, answered with receipts alone, as the client library asks for them: what was sent is known.
   *
   * @param {"observers" | "tasks"} what
   * @param {string} body
   */
  createMany(what, body) {
    return this.expect(200, "POST", `/api/v1/${what}/batch`, body, { prefer: "return=minimal" });
  }

  /**
   * Reads server-sent events until the signal aborts.
   *
   * @param {string} path
   * @param {AbortSignal} signal
   * @param {(event: string, data: string) => void} onEvent
   */
  async follow(path, signal, onEvent) {
    const response = await fetch(`${this.#url}${path}`, { signal });
    let rest = "";
    const decoder = new TextDecoder();
    try {
      for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (response.body)) {
        const blocks = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) onEvent(fieldOf(block, "event"), fieldOf(block, "data"));
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  close() {
    this.#agent.destroy();
  }
}

/** @param {string} block @param {string} name */
const fieldOf = (block, name) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
