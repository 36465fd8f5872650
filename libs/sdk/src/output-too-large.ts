/** The most bytes that an event may have as JSON: 1 MiB. RabbitMQ 4 refuses 16, and closes the channel over it, by which all of a service's events go. */
export const MAX_EVENT_BYTES = 1_048_576;

/** With this an `emit` rejects whose event is larger, as on a service so in the harness. Emit where the data is, not the data. */
export class OutputTooLargeError extends Error {
  /** Always `OutputTooLargeError`. */
  override readonly name = "OutputTooLargeError";
  /** Always `output-too-large`. */
  readonly code = "output-too-large";

  constructor(bytes: number) {
    super(`an emitted event may have ${MAX_EVENT_BYTES} bytes as JSON, and this one has ${bytes}`);
  }
}
