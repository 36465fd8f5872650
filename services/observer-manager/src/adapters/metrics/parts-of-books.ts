import { setTimeout as sleep } from "node:timers/promises";
import type { MetricSet } from "@unacked/metrics";
import type { Log } from "../../operations/log.ts";

/** The parts of the database that a scrape reads, each by itself: one that cannot be read hides none of the others. */
export const BOOKS_PARTS = ["stats", "commands", "tasks", "task-figures", "timers", "schedules", "flows"] as const;
export type BooksPart = (typeof BOOKS_PARTS)[number];

interface PartOfBooks<Read> {
  read: () => Promise<Read>;
  show: (read: Read | undefined) => void;
}

/** Which parts of the books could be read for this scrape. */
export class PartsOfBooks {
  readonly #log: Log;
  readonly #readable;
  readonly #partReadable;
  readonly #unread = new Set<BooksPart>();

  constructor(metrics: MetricSet, log: Log) {
    this.#log = log;
    this.#readable = metrics.gauge({
      name: "unacked_manager_books_readable",
      help: "1 if this manager could read all of the books for this scrape; else what it could not read is missing, and unacked_manager_books_part_readable says what that is.",
    });
    this.#partReadable = metrics.gauge({
      name: "unacked_manager_books_part_readable",
      help: "1 if this manager could read this part of the books for this scrape; else what is read from it is missing. Stats: observers, pools, queues and warnings.",
      labels: { part: BOOKS_PARTS },
    });
  }

  /** Never rejects. @param show is given undefined where it could not be read within this time, or not be shown */
  async read<Read>(part: BooksPart, { read, show }: PartOfBooks<Read>, withinMs: number): Promise<void> {
    const limit = new AbortController();
    const tooLate = sleep(withinMs, undefined, { signal: limit.signal }).then(() => {
      throw new Error(`it was not read within ${withinMs} ms`);
    });
    try {
      show(await Promise.race([read(), tooLate]));
      this.#tell(part, undefined);
    } catch (error) {
      show(undefined);
      this.#tell(part, error);
    } finally {
      tooLate.catch(() => undefined);
      limit.abort();
    }
  }

  #tell(part: BooksPart, error: unknown): void {
    const isNews = this.#unread.has(part) !== (error !== undefined);
    if (error === undefined) this.#unread.delete(part);
    else this.#unread.add(part);
    this.#partReadable.set({ part }, error === undefined ? 1 : 0);
    this.#readable.set(this.#unread.size === 0 ? 1 : 0);
    if (!isNews) return;
    if (error === undefined)
      this.#log.info({ event: "metrics-read", part }, "metrics: a part of the books can be read again");
    else
      this.#log.warn(
        { event: "metrics-unread", part, err: error },
        "metrics: a part of the books cannot be read, and its metrics are missing",
      );
  }
}
