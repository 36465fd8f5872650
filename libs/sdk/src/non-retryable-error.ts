const brand = Symbol.for("unacked.non-retryable-error");

/**
 * Thrown by a task's handler: to try again would not help (the address does not exist, the customer is gone). The task is Failed,
 * whatever attempts are left.
 */
export class NonRetryableError extends Error {
  /** `NonRetryableError`; what extends it may have a name of its own. */
  override readonly name: string = "NonRetryableError";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    Object.defineProperty(this, brand, { value: 1 });
  }
}

/** Whether a caught value says that to try again would not help; recognises the class, and what extends it, across copies of this package. */
export function isNonRetryable(value: unknown): boolean {
  return value instanceof Error && brand in value;
}
