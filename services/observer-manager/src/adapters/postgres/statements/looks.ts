import type { DataSource } from "typeorm";

/** A look waits so long for others to join it. Loops that look each second do so in the same moment (operations/loop.ts, untilNext). */
const GATHER_MS = 5;
/** A look that takes longer may wait for a lock on some table: looks at other tables need not wait with it. */
const SLOW_MS = 500;
const APART_FOR_MS = 10_000;

interface Look {
  sql: string;
  parameters: unknown[];
  answer(value: unknown): void;
  fail(error: unknown): void;
}

const ofDataSources = new WeakMap<DataSource, Looks>();

/**
 * Joins what many ask again and again, mostly to find nothing: whether something is due. What is asked within some milliseconds becomes one
 * statement, as waking costs a manager and PostgreSQL more than looking (docs/performance-budget.md). If that is slow, or fails, each is
 * asked by itself for a while.
 */
export class Looks {
  readonly #dataSource: DataSource;
  #gathered: Look[] = [];
  #apartUntilMs = Number.NEGATIVE_INFINITY;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  /** All who look by the same DataSource share one. */
  static of(dataSource: DataSource): Looks {
    const known = ofDataSources.get(dataSource) ?? new Looks(dataSource);
    ofDataSources.set(dataSource, known);
    return known;
  }

  /** @param sql a SELECT of one row and one column; its parameters are counted from $1 */
  ask<Value>(sql: string, parameters: unknown[] = []): Promise<Value> {
    return new Promise((resolve, reject) => {
      const answer = (value: unknown): void => resolve(value as Value);
      this.#gathered.push({ sql, parameters, answer, fail: reject });
      if (this.#gathered.length === 1) setTimeout(() => void this.#lookAtAll(), GATHER_MS);
    });
  }

  /** @param sql a SELECT of any rows, whose values JSON can all express */
  askRows<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return this.ask(`SELECT coalesce(jsonb_agg(r), '[]') FROM (${sql}) r`, parameters);
  }

  async #lookAtAll(): Promise<void> {
    const looks = this.#gathered;
    this.#gathered = [];
    if (looks.length === 1 || performance.now() < this.#apartUntilMs) return this.#lookApart(looks);
    try {
      const values = await Promise.race([this.#values(looks), tooLate()]);
      looks.forEach((look, i) => {
        look.answer(values[`v${i}`]);
      });
    } catch {
      this.#apartUntilMs = performance.now() + APART_FOR_MS;
      this.#lookApart(looks);
    }
  }

  #lookApart(looks: readonly Look[]): void {
    for (const look of looks) this.#values([look]).then(({ v0 }) => look.answer(v0), look.fail);
  }

  async #values(looks: readonly Look[]): Promise<Record<string, unknown>> {
    const parameters: unknown[] = [];
    const columns = looks.map((look, i) => {
      const before = parameters.length;
      parameters.push(...look.parameters);
      return `(${look.sql.replace(/\$(\d+)/g, (_, n) => `$${Number(n) + before}`)}) AS v${i}`;
    });
    const [row] = await this.#dataSource.query<Record<string, unknown>[]>(`SELECT ${columns.join(",\n")}`, parameters);
    return row ?? {};
  }
}

const tooLate = (): Promise<never> =>
  new Promise((_, reject) => {
    setTimeout(() => reject(new Error("the looks of all take long")), SLOW_MS).unref();
  });
