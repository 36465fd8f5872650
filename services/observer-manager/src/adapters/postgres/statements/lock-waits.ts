import type { EntityManager } from "typeorm";
import { allInOrder } from "../../../operations/all-in-order.ts";
import { isLocked } from "../connection/database-error.ts";
import type { Unawaited } from "../connection/transaction.ts";

/** Longer than a transaction of ours takes; and than PostgreSQL needs to see that two wait for each other (`deadlock_timeout`, 1 s). */
export const WAIT_MS = 2_000;
/** The wait of callers for whom all others wait, such as the ledger of tasks: one queue tells the ends of all pools. */
export const SHORT_WAIT_MS = 200;
/** The wait once it is known that somebody holds one of the things needed. */
export const LOOK_MS = 100;
const SHORT_LOOK_MS = 1;
/** So many are looked at together: one after the other, ten thousand would take a minute. */
const PORTION = 100;

/** @param unawaited takes what need only be done at the commit. @returns undefined: somebody holds what it needs, and nothing of it is done */
export async function within<T>(
  tx: EntityManager,
  waitMs: number,
  work: () => Promise<T>,
  unawaited?: Unawaited,
): Promise<T | undefined> {
  try {
    const begun = [tx.query("SAVEPOINT beside"), tx.query(`SET LOCAL lock_timeout = ${waitMs}`)] as const;
    const [, , result] = await allInOrder([...begun, work()]);
    const ended = allInOrder([tx.query("SET LOCAL lock_timeout TO DEFAULT"), tx.query("RELEASE SAVEPOINT beside")]);
    if (unawaited === undefined) await ended;
    else unawaited.add(ended);
    return result;
  } catch (error) {
    if (!isLocked(error)) throw error;
    await allInOrder([tx.query("ROLLBACK TO SAVEPOINT beside"), tx.query("RELEASE SAVEPOINT beside")]);
    return undefined;
  }
}

/**
 * How long to wait for each of many, one after the other, when somebody is known to hold some: a moment, and next to nothing once all that
 * has taken as long as the first wait. A thousand that are held would occupy a connection, and whoever waits behind, for minutes.
 */
function looksInTurn(waitMs: number): () => number {
  const untilMs = performance.now() + waitMs;
  return () => (performance.now() < untilMs ? LOOK_MS : SHORT_LOOK_MS);
}

/**
 * Does the work for each when somebody is known to hold some of them: in portions, and one by one in a portion of which one is
 * held.
 * @param waitMs the first wait took. @param held the outcome of one that is held. @returns in that order, if `work` does
 */
export async function besideHeld<Item, Outcome>(
  tx: EntityManager,
  items: readonly Item[],
  { waitMs, work, held }: { waitMs: number; work(some: Item[]): Promise<Outcome[]>; held: readonly Outcome[] },
): Promise<Outcome[]> {
  const lookMs = looksInTurn(waitMs);
  const lookAt = async (some: Item[]): Promise<Outcome[]> => {
    const together = await within(tx, lookMs(), () => work(some));
    if (together !== undefined) return together;
    if (some.length === 1) return [...held];
    const outcomes: Outcome[] = [];
    for (const one of some) outcomes.push(...(await lookAt([one])));
    return outcomes;
  };
  const outcomes: Outcome[] = [];
  for (let from = 0; from < items.length; from += PORTION)
    outcomes.push(...(await lookAt(items.slice(from, from + PORTION))));
  return outcomes;
}
