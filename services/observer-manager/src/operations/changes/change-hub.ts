import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "@unacked/contracts";
import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import { type CursorAt, cursorOf, noCursor, readEvents } from "./change-event.ts";
import { type ChangeLog, firstUnseen, type ToldTo, type Wakeups, type XidRange } from "./change-log.ts";
import { type ChangeSink, type ChangeSources, ChangeStream, MAX_REPLAYED_ROWS, type Unsendable } from "./change-stream.ts";
import { Gathered, HandedOn } from "./handed-on.ts";
import { inTurns } from "./turns.ts";

/** So many clients that are behind read the books at a time: after a restart all come back at once. */
const CATCHING_UP_AT_ONCE = 4;
/** Changes that an older transaction keeps from being final for so long are told ahead of it. */
const HELD_MS = 2_000;
/** Updates may come by the thousand: one look for all of them. */
const LOOKS = { firstMs: 25, maxMs: 2_000 };
/** Looks are so far apart when no notification comes, as the listening connection may be away. */
const BACKSTOP_MS = 2_000;

export interface ChangeSubscription {
  /** There is room again after `send` answered false. */
  resume(): void;
  close(): void;
}

type Horizon = Awaited<ReturnType<ChangeLog["horizon"]>>;

/**
 * Reads what changed in the books, once for all clients of this manager. Woken by notifications, with a slow look as a backstop.
 * Guarantees: changes are handed on in the order of transactions and only up to the oldest one that still runs, so that one
 * that commits late is never skipped. A notified change may not be settled yet (an older transaction still runs): then it looks
 * again soon. What is held back by one that runs for long is told ahead, too, as it is then and without a place to go on from; it is
 * told once more when its turn comes. A look of more changes than are replayed is answered by a `resync`, so that nobody waits for its end.
 * Keeps no state that another manager would need.
 */
export class ChangeHub {
  readonly #books: ChangeLog;
  /** For those that are behind. */
  readonly #sources: ChangeSources;
  readonly #log: Log;
  readonly #streams = new Set<{ stream: ChangeStream; notBeforePoll: number }>();
  readonly #handedOn = new HandedOn();
  /** `latest` of an earlier look, since when not all below it has been settled. */
  #held: { latest: bigint; sinceMs: number } | undefined;
  #pollsStarted = 0;
  /** Looks in a row behind which something that was notified may still be hidden. */
  #unsettled = 0;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  #databaseAway = false;

  constructor(books: ChangeLog, wakeups: Wakeups, log: Log) {
    this.#books = books;
    this.#sources = { log: books, handedOn: this.#handedOn, inTurn: inTurns(CATCHING_UP_AT_ONCE) };
    this.#log = log;
    wakeups.onWake(() => this.#loop.wake());
  }

  get subscriberCount(): number {
    return this.#streams.size;
  }

  /** @param lastEventId the last cursor the client saw; without one it hears what happens from now on, and perhaps of what has just happened */
  subscribe(sink: ChangeSink, lastEventId?: string): ChangeSubscription {
    const stream = new ChangeStream(this.#sources, sink, lastEventId, (error) => this.#noteUnsendable(error));
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
    this.#handedOn.beginAt(undefined);
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
      this.#handedOn.beginAt(undefined); // nobody listens: begin at the present when somebody does
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
      const horizon = await this.#books.horizon();
      await this.#moveTo(horizon);
      if (this.#isHeld(horizon)) await this.#lookAhead(horizon);
      this.#startCatchingUp(poll);
      if (this.#databaseAway) this.#log.info({}, "Following the books' changes again");
      this.#databaseAway = false;
      return horizon.settled >= horizon.latest;
    } catch (error) {
      this.#noteFailure(error);
      return true; // the backstop tries again
    }
  }

  async #moveTo({ settled, database, latest, running }: Horizon): Promise<void> {
    const from = this.#handedOn.place;
    if (from === undefined || database !== from.database || settled < from.xid) {
      if (from !== undefined) for (const { stream } of this.#streams) stream.startOver();
      this.#handedOn.beginAt({ database, xid: settled, ahead: { latest, running } });
      this.#held = undefined;
    } else if (settled > from.xid) {
      const cursorAt: CursorAt = (xid) => cursorOf({ database, xid });
      await this.#handOn({ from: from.xid, to: settled }, { ...from, xid: settled }, cursorAt);
    }
  }

  #isHeld({ settled, latest }: Horizon): boolean {
    if (this.#held === undefined || settled >= this.#held.latest)
      this.#held = settled < latest ? { latest, sinceMs: performance.now() } : undefined;
    return this.#held !== undefined && performance.now() - this.#held.sinceMs >= HELD_MS;
  }

  /**
   * Reads what has ended since the last look, from the oldest such transaction on. One that runs for long and ends before the oldest has all
   * from its number on told again.
   */
  async #lookAhead({ latest, running }: Horizon): Promise<void> {
    const from = this.#handedOn.place;
    if (from === undefined) return; // it was told meanwhile to start over
    const ahead = { latest, running };
    const range = { from: firstUnseen(from.ahead, ahead, from.xid), to: latest };
    if (range.from < range.to) await this.#handOn(range, { ...from, ahead }, noCursor);
  }

  /**
   * Reads page by page, for all that are live by then, as long as one of them is or little enough is read to be kept. If that fails midway,
   * the next look begins where this one did.
   */
  async #handOn(range: XidRange, to: ToldTo, cursorAt: CursorAt): Promise<void> {
    const from = this.#handedOn.place;
    const live = new Set(this.#live());
    const gathered = new Gathered();
    let pages = 0;
    for await (const page of readEvents(this.#books, range, cursorAt)) {
      const isTooMuch = ++pages === 2 && (await this.#books.count(range, MAX_REPLAYED_ROWS + 1)) > MAX_REPLAYED_ROWS;
      if (this.#loop.isStopped || this.#handedOn.place !== from) return; // it was told to start over
      if (isTooMuch) return this.#skipTo(to);
      gathered.add(page);
      for (const stream of live) stream.take(page.events);
      if (gathered.events === undefined && !this.#live().some((stream) => live.has(stream))) break;
    }
    // All in one tick: one that has gone live since has not been handed these, and takes them for itself.
    this.#handedOn.moveTo(to, gathered);
    for (const stream of this.#live()) {
      if (live.has(stream)) stream.reach(to);
      else stream.fallBehind();
    }
  }

  #skipTo(place: ToldTo): void {
    this.#handedOn.beginAt(place);
    for (const stream of this.#live()) stream.startOver("too-far-behind");
  }

  #live(): ChangeStream[] {
    return [...this.#streams].flatMap(({ stream }) => (stream.isLive ? [stream] : []));
  }

  #startCatchingUp(poll: number): void {
    for (const { stream, notBeforePoll } of this.#streams) {
      if (!stream.isBehind || poll < notBeforePoll) continue;
      stream.catchUp().catch((error: unknown) => this.#noteFailure(error));
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
