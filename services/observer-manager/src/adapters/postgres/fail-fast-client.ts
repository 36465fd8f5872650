import pg from "pg";

/**
 * pg's client, but a query that got no answer in time (`query_timeout`) also ends its connection. pg alone would leave the
 * unanswered query on the wire and the pool would hand the connection on: the next one would wait behind it, and a COMMIT
 * whose outcome is unknown could still happen under another transaction's feet. Matters when the network is cut silently.
 */
export class FailFastClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg's overloads, passed through untouched.
  override query(...args: any[]): any {
    const answer = (super.query as (...args: unknown[]) => unknown).apply(this, args);
    if (answer instanceof Promise) answer.catch((error: unknown) => this.endIfUnanswered(error));
    return answer;
  }

  private endIfUnanswered(error: unknown): void {
    if (!(error instanceof Error) || error.message !== "Query read timeout") return;
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } };
    connection.stream.destroy();
  }
}
