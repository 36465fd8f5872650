import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "@unacked/contracts";
import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import type { ChangeLog, ChangePlace, Wakeups, XidRange } from "./change-log.ts";
import {
  type ChangeBatch,
  type ChangeEvent,
  type ChangeSink,
  ChangeStream,
  readEvents,
  type Unsendable,
} from "./change-stream.ts";

/**
 * At most so many changes, and so many pages of the books, are kept in memory to be handed to all; beyond, each client reads for itself.
 */
const MAX_BATCH_EVENTS = 1_000;
/** So many pages hold no more changes than that, unless they are long: then a page has few of them. */
const MAX_BATCH_PAGES = 4;
/** Updates may come by the thousand: one look for all of them. */
const LOOKS = { firstMs: 25, maxMs: 2_000 };
/** Looks are so far apart when no notification comes, as the listening connection may be away. */
const BACKSTOP_MS = 2_000;

export interface ChangeSubscription {
  /** There is room again after `send` answered false. */
  resume(): void;
  close(): void;
}

/**
 * Reads what changed in the books, once for all clients of this manager. Woken by notifications, with a slow look as a backstop.
 * Guarantees: changes are handed on in the order of transactions and only up to the oldest one that still runs, so that one
 * that commits late is never skipped. A notified change may not be settled yet (an older transaction still runs): then it looks
 * again soon. Keeps no state that another manager would need.
 */
export class ChangeHub {
  readonly #books: ChangeLog;
  readonly #log: Log;
  readonly #streams = new Set<{ stream: ChangeStream; notBeforePoll: number }>();
  /** The first place not yet handed on. */
  #position: ChangePlace | undefined;
  #pollsStarted = 0;
  /** Looks in a row behind which something that was notified may still be hidden. */
  #unsettled = 0;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  #databaseAway = false;

  constructor(books: ChangeLog, wakeups: Wakeups, log: Log) {
    this.#books = books;
    this.#log = log;
    wakeups.onWake(() => this.#loop.wake());
  }

  get subscriberCount(): number {
    return this.#streams.size;
  }

  /** @param lastEventId the last cursor the client saw; without one it hears what happens from now on, and perhaps of what has just happened */
  subscribe(sink: ChangeSink, lastEventId?: string): ChangeSubscription {
    const stream = new ChangeStream(this.#books, sink, lastEventId, (error) => this.#noteUnsendable(error));
    // A cursor can come from a manager that looked later than our last poll: judge it only after a poll that begins now.
    const entry = { stream, notBeforePoll: this.#pollsStarted + 1 };
    const close = () => {
      this.#streams.delete(entry);
      stream.close();
    };
    if (this.#loop.isStopped) {
      close();
      return { resume: () => undefined, close };
    }
    this.#streams.add(entry);
    this.#loop.start();
    this.#loop.wake();
    return { resume: () => stream.resume(), close };
  }

  /**
   * Called when the books are others than before, in which the same positions mean other changes: each stream says so, and goes on from the
   * present.
   */
  startOver(): void {
    this.#position = undefined;
    for (const { stream } of this.#streams) stream.startOver();
    this.#loop.wake();
  }

  /** Ends all streams and the loop. Idempotent. */
  async close(): Promise<void> {
    this.#loop.stop();
    for (const { stream } of this.#streams) stream.close();
    this.#streams.clear();
    await this.#loop.over;
  }

  async #round(): Promise<number> {
    this.#loop.takeWake();
    if (this.#streams.size === 0) {
      this.#position = undefined; // nobody listens: begin at the present when somebody does
      return Number.POSITIVE_INFINITY;
    }
    const settled = await this.#tryPoll();
    await sleep(LOOKS.firstMs);
    this.#unsettled = this.#loop.isWoken || settled ? 0 : this.#unsettled + 1;
    return settled ? BACKSTOP_MS : backoffMs(LOOKS, this.#unsettled);
  }

  /** True when nothing notified so far can still be hidden behind a running transaction. */
  async #tryPoll(): Promise<boolean> {
    const poll = ++this.#pollsStarted;
    try {
      const { settled, latest, database } = await this.#books.horizon();
      await this.#moveTo({ database, xid: settled });
      this.#startCatchingUp(poll);
      if (this.#databaseAway) this.#log.info({}, "Following the books' changes again");
      this.#databaseAway = false;
      return settled >= latest;
    } catch (error) {
      this.#noteFailure(error);
      return true; // the backstop tries again
    }
  }

  async #moveTo(settled: ChangePlace): Promise<void> {
    const from = this.#position ?? settled;
    const isElsewhere = settled.database !== from.database || settled.xid < from.xid;
    if (isElsewhere) for (const { stream } of this.#streams) stream.startOver();
    if (isElsewhere || settled.xid === from.xid) {
      this.#position = settled;
      return;
    }
    const anybodyLive = [...this.#streams].some(({ stream }) => stream.isLive);
    const range = { from: from.xid, to: settled.xid };
    const batch = anybodyLive ? await this.#readBatch(range, settled.database) : undefined;
    // Both happen in one tick, so that no stream goes live between the two.
    this.#position = settled;
    if (batch !== undefined) for (const { stream } of this.#streams) stream.take(batch);
  }

  async #readBatch(range: XidRange, database: string): Promise<ChangeBatch> {
    const events: ChangeEvent[] = [];
    let pages = 0;
    for await (const some of readEvents(this.#books, range, database)) {
      events.push(...some);
      pages += 1;
      if (events.length > MAX_BATCH_EVENTS || pages > MAX_BATCH_PAGES) return { ...range, events: null };
    }
    return { ...range, events };
  }

  #startCatchingUp(poll: number): void {
    for (const { stream, notBeforePoll } of this.#streams) {
      if (!stream.isBehind || poll < notBeforePoll) continue;
      stream.catchUp(() => this.#position).catch((error: unknown) => this.#noteFailure(error));
    }
  }

  /** It concerns one client alone: that one starts over, and the others are told all. */
  #noteUnsendable(error: Unsendable): void {
    this.#log.error({ err: error }, "A change cannot be sent to a client; it is told to read the lists again");
  }

  #noteFailure(error: unknown): void {
    if (!this.#databaseAway)
      this.#log.warn({ error: (error as Error).name }, "Cannot follow the books' changes; trying again");
    this.#databaseAway = true;
  }

  /** The backstop tries again: only what is no failure of the books comes here. */
  #failed(error: unknown): number {
    this.#noteFailure(error);
    return BACKSTOP_MS;
  }
}
