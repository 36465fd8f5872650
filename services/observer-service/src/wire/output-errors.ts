/** Too many outputs wait for their confirm: the broker blocks, or the observers emit faster than it takes. Await `emit`. */
export class OutputOverflowError extends Error {
  override readonly name = "OutputOverflowError";
  readonly code = "output-overflow";

  constructor(waiting: number) {
    super(`${waiting} emitted events wait for the broker already; this one is not sent`);
  }
}
