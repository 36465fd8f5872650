import pg from "pg";

/**
 * pg's client, but a query that got no answer in time (`query_timeout`) also ends its connection. pg alone would leave the
 * unanswered query on the wire and the pool would hand the connection on: the next one would wait behind it, and a COMMIT
 * whose outcome is unknown could still happen under another transaction's feet. Matters when the network is cut silently.
 */
export class FailFastClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...args: unknown[]) => unknown;
    this.query = ((...args: unknown[]) => {
      const answer = query(...args);
      if (answer instanceof Promise) answer.catch((error: unknown) => this.#endIfUnanswered(error));
      return answer;
    }) as pg.Client["query"];
  }

  #endIfUnanswered(error: unknown): void {
    if (!(error instanceof Error) || error.message !== "Query read timeout") return;
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } };
    connection.stream.destroy();
  }
}
