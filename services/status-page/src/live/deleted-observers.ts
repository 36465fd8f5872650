import type { ObserverRow } from "../store/observer-row.ts";
import { loadNewest } from "../wire/load-observers.ts";
import { untilDone } from "./until-done.ts";

/** Deleted ones pile up for as long as the manager keeps them; more than this nobody scrolls through. */
const MAX_DELETED = 5_000;

/**
 * The newest of the deleted observers, once somebody wants them. Nobody comes back from being deleted: what their list says of one is never
 * older than what is known.
 */
export class DeletedObservers {
  phase: "unwanted" | "reading" | "read" = "unwanted";
  readonly #take: (rows: ObserverRow[]) => void;
  #load: AbortController | undefined;

  constructor(take: (rows: ObserverRow[]) => void) {
    this.#take = take;
  }

  want(): void {
    if (this.phase === "unwanted") this.#read();
  }

  /** Some may have been deleted unheard. */
  reload(): void {
    if (this.phase !== "unwanted") this.#read();
  }

  stop(): void {
    this.#load?.abort();
  }

  #read(): void {
    this.#load?.abort();
    const load = new AbortController();
    this.#load = load;
    this.phase = "reading";
    void untilDone(load.signal, async () => {
      const rows = await loadNewest(["Deleted"], MAX_DELETED, load.signal);
      load.signal.throwIfAborted();
      this.phase = "read";
      this.#take(rows);
    });
  }
}
