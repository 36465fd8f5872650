/** Too many outputs wait for their confirm: the broker blocks, or the observers emit faster than it takes. Await `emit`. */
export class OutputOverflowError extends Error {
  override readonly name = "OutputOverflowError";
  readonly code = "output-overflow";

  constructor(waiting: number) {
    super(`${waiting} emitted events wait for the broker already; this one is not sent`);
  }
}

/** RabbitMQ 4 refuses 16 MiB, and closes the channel over it: what every observer of the service says goes through that one. */
export const MAX_EVENT_BYTES = 1_048_576;

/** One event is too large. Emit where the data is, not the data. */
export class OutputTooLargeError extends Error {
  override readonly name = "OutputTooLargeError";
  readonly code = "output-too-large";

  constructor(bytes: number) {
    super(`an emitted event may have ${MAX_EVENT_BYTES} bytes as JSON, and this one has ${bytes}`);
  }
}
