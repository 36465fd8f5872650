import type { Asking, Kind, TakersLine } from "./takers-line.ts";

/** Who waits for one kind, and who of them is the next, as far as is known. */
interface Queue<Waiter> {
  rest: Iterator<Waiter>;
  head: Waiter | undefined;
}

/**
 * Gives turns to those who wait for what is ready, one after the other in the order in which they came. Only these are looked at. Who comes
 * later has his turn in the next round, and who has left meanwhile none. After his turn he either leaves or there was `none`.
 */
export class TakersTurns<Waiter extends Asking> {
  readonly #line: TakersLine<Waiter>;
  readonly #lastPlace: number;
  readonly #queues = new Map<string, Queue<Waiter>>();

  constructor(line: TakersLine<Waiter>, ready: readonly Kind[]) {
    this.#line = line;
    this.#lastPlace = line.lastPlace;
    for (const kind of ready) {
      const rest = line.waitersFor(kind)?.values();
      if (rest !== undefined) this.#queues.set(keyOf(kind), { rest, head: rest.next().value });
    }
  }

  /** Whose turn it is, and for which of his types, in his order. */
  next(): { waiter: Waiter; types: string[] } | undefined {
    let first: Waiter | undefined;
    let firstPlace = this.#lastPlace + 1;
    for (const [key, queue] of this.#queues) {
      const place = this.#placeOfHead(queue);
      if (place > this.#lastPlace) this.#queues.delete(key);
      if (place >= firstPlace) continue;
      first = queue.head;
      firstPlace = place;
    }
    if (first === undefined) return undefined;
    const { pool, types } = first.asked;
    return { waiter: first, types: types.filter((type) => this.#queues.has(keyOf({ pool, type }))) };
  }

  /** There was none of these, or no room: whoever else waits for them need not try. */
  none(pool: string, types: readonly string[]): void {
    for (const type of types) this.#queues.delete(keyOf({ pool, type }));
  }

  /** Goes past those who have left. */
  #placeOfHead(queue: Queue<Waiter>): number {
    while (queue.head !== undefined) {
      const place = this.#line.placeOf(queue.head);
      if (place !== undefined) return place;
      queue.head = queue.rest.next().value;
    }
    return Number.POSITIVE_INFINITY;
  }
}

const keyOf = ({ pool, type }: Kind): string => `${pool} ${type}`; // neither has a blank
