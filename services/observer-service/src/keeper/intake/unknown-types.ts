const TELL_EVERY_MS = 60_000;

/** Types of starts that this service does not have: observers of a renamed type come again and again. */
export class UnknownTypes {
  // A Map keeps the order of insertion, so the first entry is always the one that was logged longest ago.
  readonly #told = new Map<string, { readonly atMs: number; since: number }>();

  /** @param nowMs of a monotonic clock @returns how many to tell of now, this one included; undefined: it was told within the last minute */
  note(type: string, nowMs: number): number | undefined {
    const last = this.#told.get(type);
    if (last !== undefined && nowMs - last.atMs < TELL_EVERY_MS) {
      last.since += 1;
      return undefined;
    }
    this.#told.delete(type);
    for (const [other, { atMs }] of this.#told) {
      if (nowMs - atMs < 2 * TELL_EVERY_MS) break;
      this.#told.delete(other);
    }
    this.#told.set(type, { atMs: nowMs, since: 0 });
    return (last?.since ?? 0) + 1;
  }
}
