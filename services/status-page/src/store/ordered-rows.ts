import { matcherOf, type ObserverFilter, type Sort } from "./observer-filter.ts";
import type { RowChange } from "./observer-index.ts";
import type { ObserverRow } from "./observer-row.ts";

type Compare = (a: ObserverRow, b: ObserverRow) => number;

const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const newest: Compare = (a, b) => text(b.createdAt, a.createdAt) || text(b.id, a.id);
const COMPARE: Record<Sort, Compare> = {
  newest,
  attempts: (a, b) => b.failures - a.failures || newest(a, b),
};

/**
 * The ids that a filter lets through, in order. Most changes move nothing and cost a look at a set; those of one flush that do
 * are merged in one pass over the list, so that a hundred thousand rows with thousands of changes fit into a frame.
 */
export class OrderedRows {
  readonly #matches: (row: ObserverRow) => boolean;
  readonly #compare: Compare;
  /** Each as it was when it took its place: what it is sorted by has not changed since. */
  #order: ObserverRow[];
  readonly #members: Set<string>;

  constructor(filter: ObserverFilter, rows: Iterable<ObserverRow>) {
    this.#matches = matcherOf(filter);
    this.#compare = COMPARE[filter.sort];
    this.#order = [...rows].filter(this.#matches).sort(this.#compare);
    this.#members = new Set(this.#order.map(({ id }) => id));
  }

  get length(): number {
    return this.#order.length;
  }

  idAt(index: number): string | undefined {
    return this.#order[index]?.id;
  }

  has(id: string): boolean {
    return this.#members.has(id);
  }

  ids(): string[] {
    return this.#order.map(({ id }) => id);
  }

  /** −1 when it is not among them. Of a row as it is now. */
  indexOf(row: ObserverRow): number {
    let [low, high] = [0, this.#order.length - 1];
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const order = this.#compare(this.#order[middle] as ObserverRow, row);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** @returns whether any row came, went or moved */
  apply(changes: Iterable<RowChange>): boolean {
    const leaving = new Set<string>();
    const coming = new Map<string, ObserverRow>();
    for (const { before, after } of changes) {
      const id = (after ?? before)?.id;
      if (id === undefined) continue;
      const wasIn = this.#members.has(id);
      const belongs = after !== undefined && this.#matches(after);
      const moved = wasIn && belongs && before !== undefined && this.#compare(before, after) !== 0;
      if (wasIn && (!belongs || moved)) {
        this.#members.delete(id);
        if (!coming.delete(id)) leaving.add(id);
      }
      if (belongs && (!wasIn || moved)) {
        this.#members.add(id);
        coming.set(id, after);
      }
    }
    if (leaving.size === 0 && coming.size === 0) return false;
    const staying = leaving.size === 0 ? this.#order : this.#order.filter(({ id }) => !leaving.has(id));
    this.#order = merge(staying, [...coming.values()].sort(this.#compare), this.#compare);
    return true;
  }
}

/** Both in order. */
function merge(longer: ObserverRow[], shorter: ObserverRow[], compare: Compare): ObserverRow[] {
  if (shorter.length === 0) return longer;
  const merged: ObserverRow[] = [];
  let next = 0;
  for (const row of longer) {
    for (let other = shorter[next]; other !== undefined && compare(other, row) < 0; other = shorter[next]) {
      merged.push(other);
      next += 1;
    }
    merged.push(row);
  }
  for (; next < shorter.length; next += 1) merged.push(shorter[next] as ObserverRow);
  return merged;
}
