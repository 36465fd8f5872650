import { doneToEach } from "../access/audit.ts";
import { allInOrder } from "../all-in-order.ts";
import type { BooksTransaction } from "../books/books-store.ts";
import type { Candidate, HowToCreate } from "./create-together.ts";
import { lockFreeWorkers, typesToCount, wouldSuffice } from "./free-workers.ts";
import type { CreateOutcome } from "./observer-tools.ts";

/** Something stands in the way of one of them. Undoes the transaction: nothing is written. */
export class NotAsHoped extends Error {
  override readonly name = "NotAsHoped";

  constructor() {
    super("not all of them can be created");
  }
}

/**
 * At most so many, or as long as so many (sizeOfParams), share a transaction. With more the rows are what takes long, and much would be
 * written in vain.
 */
const MAX_HOPED = 100;

/** None may have a time to start: whether that has come is for the database's clock to say, before anything is decided. */
export const mayHopeFor = (candidates: readonly Candidate[], size: number): boolean =>
  size <= MAX_HOPED && candidates.every(({ observer }) => observer.startAt === undefined);

/**
 * Creates them as if nothing stood in the way of any, as is so nearly always: what is looked at, what is inserted and who did it leave together, and
 * what was found decides whether that commits. One answer is waited for where createTogether waits for two. Throws NotAsHoped where one
 * cannot be created, or was created before: why is for createTogether to find out.
 */
export async function createAsHoped(
  tx: BooksTransaction,
  candidates: Candidate[],
  { check, claimId }: HowToCreate,
): Promise<CreateOutcome[]> {
  const observers = candidates.map(({ observer }) => observer);
  const looked = allInOrder([
    lockFreeWorkers(tx, typesToCount(candidates)),
    check?.(candidates.map(({ request }) => request)),
  ]);
  const mayBeThere = candidates.some(({ request }) => request.id !== undefined);
  const inserting = tx.insertObservers(observers, claimId, mayBeThere);
  const recorded = tx.recordActions(doneToEach(candidates));
  const [[free, refusals = []], inserted] = await allInOrder([looked, inserting, recorded]);
  if (refusals.some((refusal) => refusal !== null) || !wouldSuffice(free, observers)) throw new NotAsHoped();
  return observers.map(({ id }) => {
    const own = inserted.get(id);
    if (own === undefined) throw new NotAsHoped();
    inserted.delete(id); // of two with the same id the second is a repetition
    return { kind: "created", ...own };
  });
}
