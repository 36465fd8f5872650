/** So many events of one run may wait for their confirm on a service; fewer where several of its slot emit without awaiting. */
export const MAX_UNCONFIRMED = 10_000;

/** What an emit rejects with where too many wait for their confirm: the broker blocks, or the observers emit faster than it takes. Await `emit`. */
export class OutputOverflowError extends Error {
  override readonly name = "OutputOverflowError";
  readonly code = "output-overflow";

  /** @param waiting how many wait for the broker already */
  constructor(waiting: number) {
    super(`${waiting} emitted events wait for the broker already; this one is not sent`);
  }
}
