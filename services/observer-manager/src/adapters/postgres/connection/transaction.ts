import type { DataSource, EntityManager } from "typeorm";
import { sqlStateOf } from "./database-error.ts";
import type { FailFastClient } from "./fail-fast-client.ts";

/** "Current transaction is aborted": PostgreSQL answers so to what stands behind a refusal. */
const BEHIND_A_REFUSAL = "25P02";

/** Statements of a transaction that nobody waits for: they need only be done when it commits. */
export class Unawaited {
  #asked: Promise<unknown>[] = [];
  #isRefused = false;

  /** The statement was sent already, or leaves in this turn. */
  add(asked: Promise<unknown>): void {
    asked.catch(() => (this.#isRefused = true)); // the methods below report it
    this.#asked.push(asked);
  }

  /**
   * Resolves once all is on its way. Rejects if some of it never left because our own code failed: PostgreSQL, which refuses a commit
   * behind what it has refused, would know nothing of that.
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

  /** What came first: one of the refusals, or this error. */
  async causeOf(error: unknown): Promise<unknown> {
    return firstOf([...(await this.#refusals()), error]);
  }

  /** Each refusal is reported once. */
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
 * Like DataSource.transaction, but START TRANSACTION leaves with what is asked first, and COMMIT right behind what is not waited for: two
 * round trips less. Rejects with what was refused first. A connection that does not start a transaction, or does not end it, is given up:
 * nothing is done outside of one, but for what left with the start.
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
