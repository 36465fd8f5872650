import type { EventPage, ReadEvent } from "./change-event.ts";
import type { ChangePlace, ToldTo } from "./change-log.ts";

/** More is not kept: a client has no room for more at a time. */
const KEPT = { events: 1_000, bytes: 1_048_576 };

/** Gathers what is handed on, as long as it is little enough to be kept. */
export class Gathered {
  #events: ReadEvent[] | undefined = [];
  #bytes = 0;

  add({ events, bytes }: EventPage): void {
    this.#events?.push(...events);
    this.#bytes += bytes;
    if ((this.#events?.length ?? 0) > KEPT.events || this.#bytes > KEPT.bytes) this.#events = undefined;
  }

  /** Undefined: it was too much. */
  get events(): readonly ReadEvent[] | undefined {
    return this.#events;
  }

  get bytes(): number {
    return this.#bytes;
  }
}

/** What was handed on between two places. */
export interface Move {
  from: ToldTo;
  to: ToldTo;
  events: readonly ReadEvent[];
  bytes: number;
}

/**
 * How far changes have been handed on, and the last of them: the hub moves on while a client reads the books up to where it was, and that
 * client has the rest from here. Places are told apart by identity, as what is told ahead has no number.
 */
export class HandedOn {
  #place: ToldTo | undefined;
  /** Each begins where the one before ends, the last one ends at the place. */
  #moves: Move[] = [];

  /** All before it was handed on. */
  get place(): ToldTo | undefined {
    return this.#place;
  }

  /** Not by a way from the place before. */
  beginAt(place: ToldTo | undefined): void {
    this.#place = place;
    this.#moves = [];
  }

  /** What was handed on before is not kept, either, if this was too much. */
  moveTo(to: ToldTo, { events, bytes }: Gathered): void {
    const from = this.#place;
    this.#place = to;
    const isKept = from !== undefined && events !== undefined;
    this.#moves = isKept ? withinBounds([...this.#moves, { from, to, events, bytes }]) : [];
  }

  /** What was handed on since it was at that place, undefined if that is not known any more. */
  since(place: ChangePlace): readonly Move[] | undefined {
    if (place === this.#place) return [];
    const first = this.#moves.findIndex(({ from }) => from === place);
    return first < 0 ? undefined : this.#moves.slice(first);
  }
}

/** The last of them. One without events counts, too. */
function withinBounds(moves: Move[]): Move[] {
  let [events, bytes] = [0, 0];
  const tooOld = moves.findLastIndex((move) => {
    events += Math.max(1, move.events.length);
    bytes += move.bytes;
    return events > KEPT.events || bytes > KEPT.bytes;
  });
  return moves.slice(tooOld + 1);
}
