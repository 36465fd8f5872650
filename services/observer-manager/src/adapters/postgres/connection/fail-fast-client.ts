import type { Socket } from "node:net";
import pg from "pg";
import { nameOfPrepared } from "../statements/prepared.ts";
import { TableSizes } from "../upkeep/table-sizes.ts";
import { isReadOnly } from "./database-error.ts";

/** An option that pg and TypeORM pass on to each connection. */
export interface WithTableSizes {
  tableSizes?: TableSizes;
}

/** Without table sizes plans are made anew four times a second. */
const NOT_KNOWN = new TableSizes(() => Promise.reject(new Error("nobody looks")));

/**
 * pg's client, which also ends its connection if it gets no answer for `query_timeout` ms while something is asked. pg alone would leave
 * the unanswered query on the wire and the pool would hand the connection on: the next one would wait behind it, and a COMMIT whose outcome
 * is unknown could still happen under another transaction's feet. This matters when the network is cut silently. pg counts from when each
 * was asked; but what was asked together is answered one after the other, by a slow database each in its time.
 * It also gives up a session that PostgreSQL lets write nothing: such a session stays read-only for as long as it lives, and the server may
 * not be any more (`default_transaction_read_only` of a role or a database, as is set where a disk is full; a standby that was the
 * primary).
 * It writes arrays itself (arrayLiteral), which each batch has many of, and keeps the statements of the hot path prepared.
 */
export class FailFastClient extends pg.Client {
  readonly #query: (...args: unknown[]) => unknown;
  readonly #answerWithinMs: number | undefined;
  #answersAwaited = 0;
  #timer: NodeJS.Timeout | undefined;
  #isHoldingBack = false;
  #hasEnded = false;
  #isReadOnly = false;
  readonly #tableSizes: TableSizes;
  /** The epoch of the table sizes under which its plans were made; undefined: it has no plans yet. */
  #plansOf: number | undefined;

  constructor({ query_timeout, tableSizes = NOT_KNOWN, ...config }: pg.ClientConfig & WithTableSizes) {
    super(config);
    this.#tableSizes = tableSizes;
    this.#answerWithinMs = query_timeout;
    this.once("end", () => (this.#hasEnded = true));
    this.#query = this.query.bind(this) as (...args: unknown[]) => unknown;
    this.query = ((text: unknown, values: unknown, ...others: unknown[]) => {
      this.#sendTogether();
      const answer = this.#ask(text, Array.isArray(values) ? values.map(asParameter) : values, others);
      return answer instanceof Promise ? this.#await(answer) : answer;
    }) as pg.Client["query"];
  }

  /** Ends the connection at once: what is asked of it rejects. Resolves when it is gone, so that nobody is handed it. */
  async giveUp(): Promise<void> {
    if (this.#hasEnded) return;
    const ended = new Promise((resolve) => this.once("end", resolve));
    connectionOf(this).stream.destroy();
    await ended;
  }

  async #await<Answer>(answer: Promise<Answer>): Promise<Answer> {
    this.#answersAwaited += 1;
    if (this.#answersAwaited === 1) this.#waitFromNow();
    try {
      return await answer;
    } catch (error) {
      return await this.#rethrow(error);
    } finally {
      this.#answersAwaited -= 1;
      // Only once what stands behind the refusal is answered, too: else that would be reported as a lost connection.
      if (this.#isReadOnly && this.#answersAwaited === 0) await this.giveUp();
      this.#waitFromNow();
    }
  }

  #waitFromNow(): void {
    clearTimeout(this.#timer);
    if (this.#answersAwaited === 0 || this.#answerWithinMs === undefined) return;
    this.#timer = setTimeout(() => connectionOf(this).stream.destroy(new Error("Query read timeout")), this.#answerWithinMs);
  }

  /** What is asked in one turn leaves by one system call, and wakes PostgreSQL once. */
  #sendTogether(): void {
    if (this.#isHoldingBack) return;
    const { stream } = connectionOf(this);
    this.#isHoldingBack = true;
    stream.cork();
    process.nextTick(() => {
      this.#isHoldingBack = false;
      stream.uncork();
    });
  }

  #ask(text: unknown, values: unknown, others: unknown[]): unknown {
    const name = nameOfPrepared(text);
    if (name === undefined) return this.#query(text, values, ...others);
    this.#dropOldPlans();
    return this.#query({ name, text, values }, ...others);
  }

  /** If it fails, what stands behind it fails, too, and reports that. */
  #dropOldPlans(): void {
    const epoch = this.#tableSizes.epochAt();
    if (this.#plansOf === epoch) return;
    if (this.#plansOf !== undefined) (this.#query("DISCARD PLANS") as Promise<unknown>).catch(() => undefined);
    this.#plansOf = epoch;
  }

  /** The caller hears of the error only when the connection is gone: else it would hand that back to the pool, and the pool to the next. */
  async #rethrow(error: unknown): Promise<never> {
    this.#isReadOnly ||= isReadOnly(error);
    if (error instanceof Error && isOfItsConnection(error)) await this.giveUp();
    throw error;
  }
}

const connectionOf = (client: pg.Client) => (client as unknown as { connection: { stream: Socket } }).connection;

/**
 * A statement that this connection has prepared gives other columns since a migration: it would be refused for as long as the connection
 * lives.
 */
const isOfItsConnection = (error: Error): boolean => error.message.startsWith("cached plan must not change result type");

const asParameter = (value: unknown): unknown => (Array.isArray(value) ? (arrayLiteral(value) ?? value) : value);

const NEEDS_ESCAPE = /["\\]/;
const ESCAPED = /["\\]/g;
/** Characters, besides those two, that JSON may write as something else than themselves: control characters and surrogates. */
const NOT_AS_IN_JSON = /[^ -\ud7ff\ue000-\uffff]/;

/**
 * Writes an array as PostgreSQL reads it (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO), in half the time that pg
 * takes: batches send ten thousand values in each of ten arrays. Undefined if it holds anything but texts, numbers, booleans and
 * nulls: then pg has to do it.
 */
export function arrayLiteral(values: readonly unknown[]): string | undefined {
  const parts: string[] = [];
  for (const value of values) {
    if (typeof value === "string") parts.push(quoted(value));
    else if (value === null) parts.push("NULL");
    else if (typeof value === "number" || typeof value === "boolean") parts.push(String(value));
    else return undefined;
  }
  return `{${parts.join(",")}}`;
}

/**
 * JSON has the same quotes and escapes. For texts with many of them, such as other JSON, it takes a third to an eighth of the time of
 * `replace`.
 */
function quoted(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`;
  return NOT_AS_IN_JSON.test(text) ? `"${text.replace(ESCAPED, "\\$&")}"` : JSON.stringify(text);
}
