import type { EntityManager } from "typeorm";
import { allInOrder } from "../../../operations/all-in-order.ts";
import { isLocked } from "../connection/database-error.ts";
import type { Unawaited } from "../connection/transaction.ts";

/** Longer than a transaction of ours takes; and than PostgreSQL needs to see that two wait for each other (`deadlock_timeout`, 1 s). */
export const WAIT_MS = 2_000;
/** For whom all others wait, as the ledger of tasks: the ends of all pools are told in one queue. */
export const SHORT_WAIT_MS = 200;
/** Once it is known that somebody holds one of what is needed. */
export const LOOK_MS = 100;
const SHORT_LOOK_MS = 1;
/** Looked at together: one after the other, ten thousand would take a minute. */
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
 * How long each of many is waited for, one after the other, when somebody is known to hold some of them: a moment, and next to nothing once all of that
 * has taken as long as the first wait did. A thousand that are held would keep a connection, and whoever waits behind, for minutes.
 */
function looksInTurn(waitMs: number): () => number {
  const untilMs = performance.now() + waitMs;
  return () => (performance.now() < untilMs ? LOOK_MS : SHORT_LOOK_MS);
}

/**
 * What is done of each, where somebody is known to hold some of them: in portions, and by themselves in one of which one is held.
 * @param waitMs the first wait took. @param held what is said of one that is. @returns in that order, if `work` does
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
