import type { DataSource, EntityManager } from "typeorm";
import { sqlStateOf } from "./database-error.ts";
import type { FailFastClient } from "./fail-fast-client.ts";

/** "Current transaction is aborted": what stands behind a refusal is answered so. */
const BEHIND_A_REFUSAL = "25P02";

/** What was asked of a transaction and nobody waits for: it need only be done when it commits. */
export class Unawaited {
  #asked: Promise<unknown>[] = [];

  /** Sent already, or in this turn. */
  add(asked: Promise<unknown>): void {
    asked.catch(() => undefined); // told by those below
    this.#asked.push(asked);
  }

  /** Rejects with the first refusal, once all are answered. */
  async done(): Promise<void> {
    const refusals = await this.#refusals();
    if (refusals.length > 0) throw firstOf(refusals);
  }

  /** Of this error and of what else was refused: what came first. */
  async causeOf(error: unknown): Promise<unknown> {
    return firstOf([...(await this.#refusals()), error]);
  }

  /** Each is told once. */
  async #refusals(): Promise<unknown[]> {
    const asked = this.#asked;
    this.#asked = [];
    const answers = await Promise.allSettled(asked);
    return answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  }
}

const firstOf = (refusals: unknown[]): unknown =>
  refusals.find((refusal) => sqlStateOf(refusal) !== BEHIND_A_REFUSAL) ?? refusals[0];

/**
 * As DataSource.transaction does, but that START TRANSACTION leaves with what is asked first, and COMMIT with what is not waited for: two round trips
 * less, each of which wakes two processes. Rejects with what was refused first. A connection that does not start a transaction is given
 * up: nothing is done outside of one, but for the first statement, which left with the start.
 */
export async function transact<T>(
  dataSource: DataSource,
  work: (tx: EntityManager, unawaited: Unawaited) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  const unawaited = new Unawaited();
  try {
    const client = (await runner.connect()) as FailFastClient;
    const begun = runner.query("START TRANSACTION");
    begun.catch(() => client.giveUp());
    unawaited.add(begun);
    const result = await work(runner.manager, unawaited);
    unawaited.add(runner.query("COMMIT"));
    await unawaited.done();
    await runner.broadcaster.broadcast("AfterTransactionCommit");
    return result;
  } catch (error) {
    await runner.query("ROLLBACK").catch(() => undefined);
    throw await unawaited.causeOf(error);
  } finally {
    await runner.release();
  }
}
