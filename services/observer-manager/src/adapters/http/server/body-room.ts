import { getHeapStatistics } from "node:v8";

/** The part of the heap that bodies may be as long as: read, parsed, checked and stored, one takes several times its length of memory. */
const PART_OF_HEAP = 1 / 6;
/** The part for what they are when they are parsed. A manager itself has some 45 MB. */
const PART_FOR_VALUES = 1 / 2;
/**
 * How long a body waits: most of the 60 s in which a request has to arrive (http-server.ts) are left to read it. `@unacked/client` waits
 * 20 s for an answer.
 */
const MAX_WAIT_MS = 10_000;
/** How long one that was read waits to be parsed: others are handled within that. */
const MAX_WAIT_READ_MS = 5_000;

/** Gives the room back. Further calls do nothing. */
export type GiveBack = () => void;

interface Waiting {
  bytes: number;
  begin(): void;
}

/** The rooms for the long bodies of all callers. Whoever has of the second has of the first: so nobody waits in a circle. */
export interface BodyRooms {
  /** For their length, from before they are read until they are handled. */
  unread: BodyRoom;
  /** For their weight (json-weight.ts), from before they are parsed until they are handled. */
  parsed: BodyRoom;
}

export function bodyRooms(heapBytes = getHeapStatistics().heap_size_limit): BodyRooms {
  return {
    unread: new BodyRoom({ bytes: heapBytes * PART_OF_HEAP }),
    parsed: new BodyRoom({ bytes: heapBytes * PART_FOR_VALUES, maxWaitMs: MAX_WAIT_READ_MS }),
  };
}

/**
 * Bounds how much of long bodies is read or handled at one time: with four batches of 30 MiB at once V8 would run out of memory in a
 * container of 512 MiB. Others wait in turn. A single one is always taken, however much it asks for.
 */
export class BodyRoom {
  /** All of it. */
  readonly bytes: number;
  readonly #maxWaitMs: number;
  readonly #waiting = new Set<Waiting>();
  #inUse = 0;

  constructor({ bytes, maxWaitMs = MAX_WAIT_MS }: { bytes: number; maxWaitMs?: number }) {
    this.bytes = bytes;
    this.#maxWaitMs = maxWaitMs;
  }

  /** Resolves to undefined if there was no room in time, or the sender has `gone`. */
  take(bytes: number, gone: AbortSignal): Promise<GiveBack | undefined> {
    if (gone.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const stopWaiting = (): void => {
        clearTimeout(timer);
        gone.removeEventListener("abort", leave);
        this.#waiting.delete(waiting);
      };
      const leave = (): void => {
        stopWaiting();
        resolve(undefined);
        this.#beginNext();
      };
      const begin = (): void => {
        stopWaiting();
        resolve(this.#taken(bytes));
      };
      const waiting: Waiting = { bytes, begin };
      const timer = setTimeout(leave, this.#maxWaitMs);
      gone.addEventListener("abort", leave);
      this.#waiting.add(waiting);
      this.#beginNext();
    });
  }

  /** Bodies begin in turn, so that a long one is not passed by others for ever. */
  #beginNext(): void {
    for (const { bytes, begin } of this.#waiting) {
      if (this.#inUse > 0 && this.#inUse + bytes > this.bytes) return;
      begin();
    }
  }

  #taken(bytes: number): GiveBack {
    this.#inUse += bytes;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#inUse -= bytes;
      this.#beginNext();
    };
  }
}
