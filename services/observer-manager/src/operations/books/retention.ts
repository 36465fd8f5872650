import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import { type Act, tryEach } from "../try-each.ts";

export interface RetentionStore {
  /** Removes up to `limit` rows of one kind that ended longer than `olderThanMs` ago. @returns how many went */
  removeOld(kind: RetainedKind, olderThanMs: number, limit: number): Promise<number>;
  /** Removes up to `limit` of those errors that are older than the newest `most`, but none from which something lost can be recorded, or whose event is kept for another manager. @returns how many went */
  removeExcessErrors(most: number, limit: number): Promise<number>;
  /** Removes up to `limit` of the figures by minute that are older than a day. @returns how many went */
  forgetFigures(limit: number): Promise<number>;
  /** Puts together the counts that have been kept in pieces. */
  foldCounts(): Promise<void>;
}

/**
 * Deleted observers go with their runs; runs also go alone, when their observer lives on. Runs come first: when the retention was made
 * shorter, some hundred observers that are older may have hundreds of thousands of runs, and these go in batches.
 */
export const RETAINED_KINDS = ["runs", "observers", "services", "errors", "audit", "unknown runs"] as const;
export type RetainedKind = (typeof RETAINED_KINDS)[number];

/** Whoever may write into a queue can send any number of messages that nobody can read, and each one is kept with up to 16 KiB of it. */
export const MOST_ERRORS = 100_000;

const BATCH = 500;
/** The pause between batches, so that the books' own work goes first. */
const PAUSE_MS = 50;

export interface RetentionParts {
  store: RetentionStore;
  retentionMs: number;
  log: Log;
}

/**
 * Removes what ended long ago, in small batches. An id that was removed cannot come back by a late message: whatever
 * still bears it was created before the retention began, and such a run is stopped instead of recorded.
 */
export class Retention {
  readonly #parts: RetentionParts;
  readonly #everyMs: number;
  readonly #loop = new Loop({ round: () => this.#sweep(), failed: (error) => this.#failed(error) });

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#everyMs = Math.min(600_000, Math.max(1_000, parts.retentionMs / 10));
  }

  start(): void {
    this.#loop.start(this.#everyMs);
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #sweep(): Promise<number> {
    const { store, retentionMs } = this.#parts;
    const removal = (kind: string, removeSome: () => Promise<number>): Act => [kind, () => this.#remove(kind, removeSome)];
    await tryEach(
      [
        ...RETAINED_KINDS.map((kind) => removal(kind, () => store.removeOld(kind, retentionMs, BATCH))),
        removal("errors beyond the newest", () => store.removeExcessErrors(MOST_ERRORS, BATCH)),
        ["figures", async () => void (await this.#removeAll(() => store.forgetFigures(BATCH)))],
        ["counts", () => store.foldCounts()],
      ],
      { isStopped: () => this.#loop.isStopped, failed: (error, kind) => this.#failed(error, kind) },
    );
    return this.#everyMs;
  }

  async #remove(kind: string, removeSome: () => Promise<number>): Promise<void> {
    const removed = await this.#removeAll(removeSome);
    if (removed > 0) this.#parts.log.info({ event: "retention", kind, removed }, "removed what is not kept for longer");
  }

  async #removeAll(removeSome: () => Promise<number>): Promise<number> {
    let removed = 0;
    for (let batch = BATCH; batch === BATCH && !this.#loop.isStopped; removed += batch) {
      batch = await removeSome();
      if (batch === BATCH) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    return removed;
  }

  #failed(error: unknown, kind?: string): number {
    this.#parts.log.warn({ event: "retention-failed", kind, err: error }, "old rows could not be removed");
    return this.#everyMs;
  }
}
