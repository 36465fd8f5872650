import type { ReportedStart } from "@unacked/contracts";
import { isGiven } from "../../domain/observers/admission.ts";
import { nextEpoch } from "../../domain/observers/run-fate.ts";
import type { BooksTransaction } from "../books/books-store.ts";

/**
 * Where runs had got to whose observers these books had lost, and have recorded just now: the next run is given that, with an epoch above theirs. It is written with an epoch of
 * its own, as where people set it, so that what those runs said before and what is read only now does not count.
 */
export async function keepPlaces(tx: BooksTransaction, starts: readonly ReportedStart[]): Promise<void> {
  const admitted = starts.flatMap(({ observerId, epoch, checkpoint }) =>
    epoch !== undefined && isGiven({ fencingToken: null }, epoch) ? [{ observerId, epoch, checkpoint }] : [],
  );
  if (admitted.length === 0) return;
  const { books } = await tx.loadObservers(admitted.map(({ observerId: id }) => ({ kind: "id", id })));
  const places = admitted.flatMap(({ observerId, epoch, checkpoint }) => {
    const observer = books.observers.get(observerId);
    return observer === undefined ? [] : [{ observer, epoch: nextEpoch({ ...observer, fencingToken: epoch }), checkpoint }];
  });
  for (const { observer, epoch } of places) {
    observer.fencingToken = epoch;
    books.changedObservers.add(observer);
  }
  await tx.write(books);
  for (const { observer, epoch, checkpoint } of places)
    if (checkpoint !== undefined) await tx.setCheckpoint(observer.id, epoch, checkpoint.value, checkpoint.number);
}
