/** As they are kept in the table, compressed; parsed they take some twenty times as much. */
const MAX_KEPT_BYTES = 2_097_152;

/** What services of a pool that announce the very same have in common. */
export interface TypesRow<Info> {
  hash: string;
  /** Null: they are those of this hash, which was said to be known. */
  types: Info[] | null;
  /** As they are kept in the table. */
  bytes: number;
}

type Known<Info> = ReadonlyMap<string, { types: Info[]; bytes: number }>;

/**
 * The types of pools as they were read last, by their hash. Whoever creates something asks what is announced now, and is sent only what is
 * not here: with their schemas the types of one service can be a megabyte.
 */
export class TypesOfPools<Info> {
  /** Those read last are behind. */
  readonly #pools = new Map<string, Known<Info>>();

  /** @param ask for the rows of the pool, without the types of these hashes */
  async read<Row extends TypesRow<Info>>(
    pool: string,
    ask: (known: string[]) => Promise<Row[]>,
  ): Promise<(Row & { types: Info[] })[]> {
    // Somebody else may have read newer ones by the time of the answer.
    const known: Known<Info> = this.#pools.get(pool) ?? new Map();
    const rows = await ask([...known.keys()]);
    const whole = rows.map((row) => ({ ...row, types: row.types ?? known.get(row.hash)?.types ?? [] }));
    this.#keep(pool, new Map(whole.map(({ hash, types, bytes }) => [hash, { types, bytes }])));
    return whole;
  }

  #keep(pool: string, known: Known<Info>): void {
    this.#pools.delete(pool);
    if (known.size === 0) return;
    this.#pools.set(pool, known);
    let bytes = [...this.#pools.values()].reduce((sum, one) => sum + bytesOf(one), 0);
    for (const [other, one] of this.#pools) {
      if (bytes <= MAX_KEPT_BYTES) return;
      this.#pools.delete(other);
      bytes -= bytesOf(one);
    }
  }
}

const bytesOf = (known: Known<unknown>): number => [...known.values()].reduce((sum, { bytes }) => sum + bytes, 0);
