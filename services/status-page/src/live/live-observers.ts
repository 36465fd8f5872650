import { ObserverIndex, type RowChange } from "../store/observer-index.ts";
import type { ObserverRow } from "../store/observer-row.ts";
import { LIVING } from "../store/statuses.ts";
import { loadObservers } from "../wire/load-observers.ts";
import { DeletedObservers } from "./deleted-observers.ts";
import { oncePerFrame } from "./next-frame.ts";
import { Signal } from "./signal.ts";
import { untilDone } from "./until-done.ts";

/** How far the list has been read. `total` is null until the first page came. */
export type Loading = { phase: "reading"; read: number; total: number | null } | { phase: "whole" };

/** A list that is being read grows so often: to draw it takes as long as to read a page of it. */
const SEEN_EVERY_MS = 1_000;

/** By so much later it is seen that restarts are of late no more. */
const FORGET_EVERY_MS = 10_000;

/**
 * The observers as the manager's events tell them. Comes in: every event, at once; goes out: one flush a frame, with all that
 * changed. An observer that changes ten times between two frames is one change to the views.
 */
export class LiveObservers {
  readonly index = new ObserverIndex();
  readonly changed = new Signal();
  readonly deleted = new DeletedObservers({
    begin: () => this.index.beginDeleted(),
    take: (rows) => this.#publish(this.index.takeDeleted(rows)),
  });
  loading: Loading = { phase: "reading", read: 0, total: null };
  /** The list is being read, for the first time or again: until it is whole, it need not be the present. */
  isBehind = true;
  #pending = new Map<string, ObserverRow>();
  readonly #followers = new Set<(changes: RowChange[]) => void>();
  readonly #askToFlush = oncePerFrame(() => this.#flush());
  #load: AbortController | undefined;
  #forgetting: ReturnType<typeof setInterval> | undefined;

  /** Until `stop`. */
  start(): void {
    this.#forgetting = setInterval(() => this.#forgetRestarts(), FORGET_EVERY_MS);
  }

  /** `follower` gets the changes of each flush, in order. */
  follow(follower: (changes: RowChange[]) => void): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  take(row: ObserverRow): void {
    this.#pending.set(row.id, row);
    this.#askToFlush();
  }

  /** Reads the list again, until that has succeeded; what events say meanwhile counts more. */
  reload(): void {
    this.#load?.abort();
    const load = new AbortController();
    this.#load = load;
    this.isBehind = true;
    void untilDone(load.signal, () => this.#readOnce(load.signal));
    this.deleted.reload();
  }

  stop(): void {
    clearInterval(this.#forgetting);
    this.#load?.abort();
    this.deleted.stop();
  }

  /** From now on the deleted ones are here too: the newest of those before now. */
  wantDeleted(): void {
    this.index.keepDeleted();
    this.deleted.want();
  }

  async #readOnce(signal: AbortSignal): Promise<void> {
    this.#flush();
    this.index.beginLoad();
    if (this.loading.phase === "reading") this.loading = { phase: "reading", read: 0, total: null };
    let read = 0;
    let unseen: ObserverRow[] = [];
    let seenAtMs = Number.NEGATIVE_INFINITY;
    for await (const { rows, total } of loadObservers([...LIVING], signal)) {
      signal.throwIfAborted();
      read += rows.length;
      if (this.loading.phase === "reading") this.loading = { phase: "reading", read, total };
      for (const row of rows) unseen.push(row);
      if (performance.now() - seenAtMs < SEEN_EVERY_MS) continue;
      this.#flush();
      this.#publish(this.index.takePage(unseen));
      unseen = [];
      seenAtMs = performance.now();
    }
    signal.throwIfAborted();
    this.#flush();
    this.#publish(this.index.takePage(unseen));
    this.loading = { phase: "whole" };
    this.isBehind = false;
    this.#publish(this.index.endLoad());
  }

  #flush(): void {
    if (this.#pending.size === 0) return;
    const rows = this.#pending.values();
    this.#pending = new Map();
    this.#publish(this.index.takeEvents(rows));
  }

  #forgetRestarts(): void {
    const changes = this.index.forgetRestarts(Date.now());
    if (changes.length > 0) this.#publish(changes);
  }

  #publish(changes: RowChange[]): void {
    for (const follower of this.#followers) follower(changes);
    this.changed.tell();
  }
}
