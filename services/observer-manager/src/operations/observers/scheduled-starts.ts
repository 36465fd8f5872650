import type { ObserverId, WhenFull } from "@unacked/contracts";
import { applyInput } from "../../domain/observers/observer-input.ts";
import type { BooksStore, BooksTransaction } from "../books/books-store.ts";
import type { Log } from "../log.ts";
import { Loop, untilDue } from "../loop.ts";
import { ROOM_FOR_ALL, roomFor } from "./room.ts";

const AT_ONCE = 200;
/** Another manager alone may know of an observer that is created to start earlier than that. */
const BACKSTOP_MS = 1_000;
const FAILED_PAUSE_MS = 1_000;

export interface DueStart {
  id: ObserverId;
  whenFull: WhenFull;
}

export interface ScheduledStartStore {
  /** Observers that are Scheduled and whose time has come, the first first. Not locked: whoever starts one looks again. */
  due(limit: number): Promise<DueStart[]>;
  /** The time until the next one is due, not above 0 where one is; null: there is none. */
  nextDueInMs(): Promise<number | null>;
  /** There was no worker for them: they are due again after some seconds, and say why. @returns how many had not said so before */
  putOff(ids: readonly ObserverId[]): Promise<number>;
}

export interface ScheduledStartsParts {
  store: ScheduledStartStore;
  books: BooksStore;
  isReady(): boolean;
  /** Told after each commit that wrote a command. */
  committed(): void;
  log: Log;
}

/**
 * Comes in: observers whose time to start has come. Guarantees: each is sent once, as if it had been created just then: its row is
 * locked, looked at again and written together with the command that starts it. One that must find a worker and finds none
 * stays Scheduled, says so, and is tried again. A crash before the commit leaves it to the next look, here or elsewhere; one after, the
 * command to any dispatcher: docs/decisions/0018-scheduled-observers.md.
 */
export class ScheduledStarts {
  readonly #parts: ScheduledStartsParts;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });

  constructor(parts: ScheduledStartsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #round(): Promise<number> {
    const { store, books, isReady, committed, log } = this.#parts;
    if (!isReady()) return BACKSTOP_MS;
    const nextInMs = await store.nextDueInMs();
    if (nextInMs === null || nextInMs > 0) return untilDue(nextInMs, BACKSTOP_MS);
    const due = await store.due(AT_ONCE);
    if (due.length > 0) {
      const { started, full } = await books.inTransaction((tx) => startDue(tx, due));
      if (started > 0) {
        committed();
        const left = { withoutWorker: full.length };
        log.info({ event: "scheduled-starts", started, ...left }, "observers whose time has come were sent");
      }
      if (full.length > 0) await this.#putOff(full);
    }
    return due.length === AT_ONCE ? 0 : 1; // another manager may be at what is left
  }

  async #putOff(full: readonly ObserverId[]): Promise<void> {
    const { store, log } = this.#parts;
    const observers = await store.putOff(full);
    if (observers > 0)
      log.info(
        { event: "start-put-off", observers },
        "no worker is free for observers whose time has come; it is tried again",
      );
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "observers whose time has come could not be sent, trying again");
    return FAILED_PAUSE_MS;
  }
}

async function startDue(tx: BooksTransaction, due: readonly DueStart[]): Promise<{ started: number; full: ObserverId[] }> {
  const { books } = await tx.loadObservers(due.map(({ id }) => ({ kind: "id", id })));
  const room = due.some(({ whenFull }) => whenFull === "reject") ? await roomFor(tx, books) : ROOM_FOR_ALL;
  const full: ObserverId[] = [];
  let started = 0;
  for (const { id, whenFull } of due) {
    const observer = books.observers.get(id);
    // Another manager was first, or somebody has paused or deleted it meanwhile.
    if (observer?.status !== "Scheduled" || observer.startsLater) continue;
    if (room(observer) !== null && whenFull === "reject") {
      full.push(id);
      continue;
    }
    applyInput(books, observer, "start-due");
    started += 1;
  }
  if (started > 0) await tx.write(books);
  return { started, full };
}
