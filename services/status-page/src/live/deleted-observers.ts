import { MOST_DELETED } from "../store/observer-index.ts";
import type { ObserverRow } from "../store/observer-row.ts";
import { loadNewest } from "../wire/load-observers.ts";
import { untilDone } from "./until-done.ts";

/** Where they are kept. */
interface Deleted {
  /** From now on their list is read. */
  begin(): void;
  take(rows: ObserverRow[]): void;
}

/** The newest of the deleted observers, once somebody wants them. */
export class DeletedObservers {
  phase: "unwanted" | "reading" | "read" = "unwanted";
  readonly #kept: Deleted;
  #load: AbortController | undefined;

  constructor(kept: Deleted) {
    this.#kept = kept;
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
      this.#kept.begin();
      const rows = await loadNewest(["Deleted"], MOST_DELETED, load.signal);
      load.signal.throwIfAborted();
      this.phase = "read";
      this.#kept.take(rows);
    });
  }
}
