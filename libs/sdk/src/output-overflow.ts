/** So many events of one run may wait for their confirm on a service; fewer where several of its slot emit without awaiting. */
export const MAX_UNCONFIRMED = 10_000;

/** What a service's emit rejects with, as the harness says it, which has no broker that could be slow. */
export class OutputOverflowError extends Error {
  override readonly name = "OutputOverflowError";
  readonly code = "output-overflow";

  constructor() {
    super(`${MAX_UNCONFIRMED} emitted events wait for the broker already; this one is not sent`);
  }
}
