import type { Socket } from "node:net";
import pg from "pg";
import { arrayLiteral } from "./array-literal.ts";

/**
 * pg's client, but a query that got no answer in time (`query_timeout`) also ends its connection. pg alone would leave the
 * unanswered query on the wire and the pool would hand the connection on: the next one would wait behind it, and a COMMIT
 * whose outcome is unknown could still happen under another transaction's feet. Matters when the network is cut silently.
 * It also writes arrays itself (array-literal.ts), which each batch has many of.
 */
export class FailFastClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...args: unknown[]) => unknown;
    this.query = ((text: unknown, values: unknown, ...others: unknown[]) => {
      const answer = query(text, Array.isArray(values) ? values.map(asParameter) : values, ...others);
      return answer instanceof Promise ? answer.catch((error: unknown) => this.#rethrow(error)) : answer;
    }) as pg.Client["query"];
  }

  /** The caller hears of it only when the connection is gone: it would hand it back to the pool, and the pool to the next. */
  async #rethrow(error: unknown): Promise<never> {
    const { stream } = (this as unknown as { connection: { stream: Socket } }).connection;
    if (error instanceof Error && error.message === "Query read timeout" && !stream.destroyed) {
      const ended = new Promise((resolve) => this.once("end", resolve));
      stream.destroy();
      await ended;
    }
    throw error;
  }
}

const asParameter = (value: unknown): unknown => (Array.isArray(value) ? (arrayLiteral(value) ?? value) : value);
