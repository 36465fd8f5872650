import type { ReportedStart } from "@unacked/contracts";
import { isGiven } from "../../domain/observers/admission.ts";
import { nextFencingToken } from "../../domain/observers/run-fate.ts";
import type { BooksTransaction } from "../books/books-store.ts";

/**
 * Keeps how far runs had got whose observers these books had lost and have recorded just now. The next run is given that, with a fencing
 * token above theirs. It is written with a token of its own, as where people set it, so that what those runs said before and what is read
 * only now does not count.
 */
export async function keepPlaces(tx: BooksTransaction, starts: readonly ReportedStart[]): Promise<void> {
  const admitted = starts.flatMap(({ observerId, fencingToken, checkpoint }) =>
    fencingToken !== undefined && isGiven({ fencingToken: null }, fencingToken)
      ? [{ observerId, fencingToken, checkpoint }]
      : [],
  );
  if (admitted.length === 0) return;
  const { books } = await tx.loadObservers(admitted.map(({ observerId: id }) => ({ kind: "id", id })));
  const places = admitted.flatMap(({ observerId, fencingToken: told, checkpoint }) => {
    const observer = books.observers.get(observerId);
    if (observer === undefined) return [];
    return [{ observer, fencingToken: nextFencingToken({ ...observer, fencingToken: told }), checkpoint }];
  });
  for (const { observer, fencingToken } of places) {
    observer.fencingToken = fencingToken;
    books.changedObservers.add(observer);
  }
  await tx.write(books);
  for (const { observer, fencingToken, checkpoint } of places)
    if (checkpoint !== undefined) await tx.setCheckpoint(observer.id, fencingToken, checkpoint.value, checkpoint.number);
}
