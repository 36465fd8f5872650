/** A database with which a manager does not start, and why: a restart mends nothing, so somebody has to. */
export class UnusableDatabaseError extends Error {
  override readonly name: string = "UnusableDatabaseError";
}
