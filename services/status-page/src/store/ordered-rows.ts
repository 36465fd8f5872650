import type { ObserverStatus } from "@unacked/contracts";
import { type ListFilter, matcherOf, type Sort } from "./list-filter.ts";
import type { RowChange } from "./observer-index.ts";
import type { ObserverRow } from "./observer-row.ts";
import { STATUS_LOOKS, STATUSES, type Tone } from "./statuses.ts";

type Compare = (a: ObserverRow, b: ObserverRow) => number;

const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const newest: Compare = (a, b) => text(b.createdAt, a.createdAt) || text(b.id, a.id);
/** Those without any come last. */
const orNone = (a: string | null, b: string | null): number =>
  a === null || b === null ? Number(a === null) - Number(b === null) : text(a, b);
const COMPARE: Record<Sort, Compare> = {
  newest,
  name: (a, b) => text(a.name, b.name),
  status: (a, b) => RANKS[a.status] - RANKS[b.status],
  type: (a, b) => text(a.type, b.type),
  service: (a, b) => orNone(a.serviceName, b.serviceName),
  pool: (a, b) => text(a.pool, b.pool),
  silent: (a, b) => orNone(a.silentSince, b.silentSince),
  restarts: (a, b) => b.restartsLately - a.restartsLately,
  attempts: (a, b) => b.attempts - a.attempts,
  runs: (a, b) => b.runNumber - a.runNumber,
  changed: (a, b) => text(b.modifiedAt, a.modifiedAt),
  error: (a, b) => orNone(a.error, b.error),
};

const TONES: readonly Tone[] = ["bad", "wait", "good", "over"];
/** By how much somebody has to look. */
const RANKS = Object.fromEntries(
  STATUSES.map((status, place) => [status, TONES.indexOf(STATUS_LOOKS[status].tone) * STATUSES.length + place]),
) as Record<ObserverStatus, number>;

/** Equal ones: the newest first, whichever way. */
const comparing = ({ sort, isReversed }: ListFilter): Compare => {
  const compare = COMPARE[sort];
  return isReversed ? (a, b) => compare(b, a) || newest(a, b) : (a, b) => compare(a, b) || newest(a, b);
};

/**
 * The ids that a filter lets through, in order. Most changes move nothing and cost a look at a set; the places of those of one
 * flush that do are searched by halves, and one pass without any comparing copies the list around them. So a hundred thousand
 * rows with thousands of changes fit into a frame.
 */
export class OrderedRows {
  readonly #matches: (row: ObserverRow) => boolean;
  readonly #compare: Compare;
  /** Each as it was when it took its place: what it is sorted by has not changed since. */
  #order: ObserverRow[];
  readonly #members: Set<string>;

  constructor(filter: ListFilter, rows: Iterable<ObserverRow>) {
    this.#matches = matcherOf(filter);
    this.#compare = comparing(filter);
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
    const index = this.#placeOf(row);
    return this.#order[index]?.id === row.id ? index : -1;
  }

  /** @returns whether any row came, went or moved */
  apply(changes: Iterable<RowChange>): boolean {
    const leaving: number[] = [];
    const coming = new Map<string, ObserverRow>();
    for (const { before, after } of changes) {
      const id = (after ?? before)?.id;
      if (id === undefined) continue;
      const wasIn = this.#members.has(id);
      const belongs = after !== undefined && this.#matches(after);
      const moved = wasIn && belongs && before !== undefined && this.#compare(before, after) !== 0;
      if (wasIn && (!belongs || moved) && before !== undefined) {
        this.#members.delete(id);
        if (!coming.delete(id)) leaving.push(this.#placeOf(before));
      }
      if (belongs && (!wasIn || moved)) {
        this.#members.add(id);
        coming.set(id, after);
      }
    }
    if (leaving.length === 0 && coming.size === 0) return false;
    this.#rearrange(
      leaving.sort((a, b) => a - b),
      [...coming.values()].sort(this.#compare),
    );
    return true;
  }

  #rearrange(leaving: number[], coming: ObserverRow[]): void {
    const order: ObserverRow[] = [];
    let [from, nextLeaving] = [0, 0];
    const copyUpTo = (to: number) => {
      for (; from < to; from += 1) {
        if (leaving[nextLeaving] === from) nextLeaving += 1;
        else order.push(this.#order[from] as ObserverRow);
      }
    };
    for (const row of coming) {
      copyUpTo(this.#placeOf(row, from)); // none of those that come stands before the one that came before it
      order.push(row);
    }
    copyUpTo(this.#order.length);
    this.#order = order;
  }

  /** Where a row stands, or would: the first that does not come before it; looked for from `low` on. */
  #placeOf(row: ObserverRow, low = 0): number {
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#order[middle] as ObserverRow, row) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
