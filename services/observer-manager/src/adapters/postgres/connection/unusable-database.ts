/** A manager does not start with this database; the message says why. A restart mends nothing, so somebody has to. */
export class UnusableDatabaseError extends Error {
  override readonly name: string = "UnusableDatabaseError";
}
