import type { DataSource, EntityManager } from "typeorm";
import { sqlStateOf } from "./database-error.ts";
import type { FailFastClient } from "./fail-fast-client.ts";

/** "Current transaction is aborted": what stands behind a refusal is answered so. */
const BEHIND_A_REFUSAL = "25P02";

/** What was asked of a transaction and nobody waits for: it need only be done when it commits. */
export class Unawaited {
  #asked: Promise<unknown>[] = [];
  #isRefused = false;

  /** Sent already, or in this turn. */
  add(asked: Promise<unknown>): void {
    asked.catch(() => (this.#isRefused = true)); // told by those below
    this.#asked.push(asked);
  }

  /**
   * Once all is on its way. Rejects where some of it never left, as our own code failed: PostgreSQL, which refuses a commit behind what it
   * has refused, would know nothing of that.
   */
  async sent(): Promise<void> {
    await new Promise((resolve) => process.nextTick(resolve));
    if (this.#isRefused) await this.done();
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
 * As DataSource.transaction does, but that START TRANSACTION leaves with what is asked first, and COMMIT right behind what is not waited for: two
 * round trips less. Rejects with what was refused first. A connection that does not start a transaction, or does not end it, is given
 * up: nothing is done outside of one, but for what left with the start.
 */
export async function transact<T>(
  dataSource: DataSource,
  work: (tx: EntityManager, unawaited: Unawaited) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  const unawaited = new Unawaited();
  let client: FailFastClient | undefined;
  try {
    const connection = (await runner.connect()) as FailFastClient;
    client = connection;
    const begun = runner.query("START TRANSACTION");
    begun.catch(() => connection.giveUp());
    unawaited.add(begun);
    const result = await work(runner.manager, unawaited);
    await unawaited.sent();
    unawaited.add(runner.query("COMMIT"));
    await unawaited.done();
    await runner.broadcaster.broadcast("AfterTransactionCommit");
    return result;
  } catch (error) {
    await runner.query("ROLLBACK").catch(() => client?.giveUp());
    throw await unawaited.causeOf(error);
  } finally {
    await runner.release();
  }
}
