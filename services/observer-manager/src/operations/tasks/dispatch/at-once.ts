/** Tasks of this pool may be Sent as they are created, if nothing else is due there: so many calls are to be in flight, of these types. */
export interface AtOnce {
  pool: string;
  window: number;
  types: readonly string[];
  /**
   * The types of the pool that take batches, and how many tasks one call takes; a task of any other type is a call. Empty where none of
   * them is created: then each task in flight is counted, which is sooner done, and no fewer.
   */
  batches: ReadonlyMap<string, number>;
  /** Told where an insert was given up, as it has waited for somebody else's lock; they are then created without this. */
  heldUp?(): void;
}
