/** A limit of types as they are kept in the table, compressed; parsed they take some twenty times as much. */
const MAX_KEPT_BYTES = 2_097_152;

/** One row for all services of a pool that announce the very same. */
export interface TypesRow<Info> {
  hash: string;
  /** Null: they are those of this hash, which was said to be known. */
  types: Info[] | null;
  /** Their size in the table. */
  bytes: number;
}

interface Kept<Info> {
  types: Info[];
  bytes: number;
}

/**
 * The types that services announce, by their hash, as they were read last: services of one image announce the same in all pools. Whoever creates something
 * asks what is announced now, and is sent only what is not here: with their schemas the types of one service can be a megabyte.
 */
export class TypesByHash<Info> {
  /** Those that were read last come last. */
  readonly #kept = new Map<string, Kept<Info>>();
  #bytes = 0;

  /** @param ask for the rows of a pool, without the types of these hashes */
  async read<Row extends TypesRow<Info>>(ask: (known: string[]) => Promise<Row[]>): Promise<(Row & { types: Info[] })[]> {
    // By the time of the answer some of them may have been forgotten.
    const known = new Map(this.#kept);
    const rows = await ask([...known.keys()]);
    return rows.map((row) => {
      const types = row.types ?? known.get(row.hash)?.types ?? [];
      this.#keep(row.hash, { types, bytes: row.bytes });
      return { ...row, types };
    });
  }

  #keep(hash: string, kept: Kept<Info>): void {
    this.#forget(hash);
    this.#kept.set(hash, kept);
    this.#bytes += kept.bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MAX_KEPT_BYTES) return;
      this.#forget(oldest);
    }
  }

  #forget(hash: string): void {
    this.#bytes -= this.#kept.get(hash)?.bytes ?? 0;
    this.#kept.delete(hash);
  }
}
