import {
  type ChangeEvent,
  type CursorAt,
  cursorOf,
  noCursor,
  parseCursor,
  type ReadEvent,
  type ResyncReason,
  readEvents,
} from "./change-event.ts";
import {
  type ChangeLog,
  type ChangePlace,
  type ChangePosition,
  firstUnseen,
  type Sight,
  type ToldTo,
  type XidRange,
} from "./change-log.ts";
import type { HandedOn, Move } from "./handed-on.ts";
import type { Turns } from "./turns.ts";

/** More changed rows than this are not replayed: reading the lists again is cheaper for both. */
export const MAX_REPLAYED_ROWS = 10_000;

export interface ChangeSink {
  /** Takes the event in any case; false asks for a pause until `resume()`. What cannot be sent is thrown, and told as a `resync`. */
  send(event: ChangeEvent): boolean;
  end(): void;
}

/** A sink has not taken it: such a thing cannot be written. */
export class Unsendable extends Error {
  override name = "Unsendable";

  constructor(kind: ChangeEvent["kind"], cause: unknown) {
    super(`${kind}: ${(cause as Error).message}`, { cause });
  }
}

/** Where a stream finds what it has to tell. */
export interface ChangeSources {
  log: ChangeLog;
  handedOn: HandedOn;
  /** Those that are behind read the log by it. */
  inTurn: Turns;
}

/**
 * One client's place in the stream of changes. Comes in: where it was last time, if it says so. Guarantees: no change is
 * skipped without a `resync`, and memory stays bounded, since a client that is behind or slow reads from the books at its own
 * pace until it has caught up, and only then gets the live batches; while it has no room, nothing is kept for it. Holds nothing that a
 * crash could lose: the place is the client's own (`Last-Event-ID`) and holds for every manager.
 */
export class ChangeStream {
  readonly #sources: ChangeSources;
  readonly #sink: ChangeSink;
  readonly #unsendable: (error: Unsendable) => void;
  #state: "behind" | "catching-up" | "live" | "closed" = "behind";
  /** All before it was sent, and what was seen `ahead` of it. Undefined: begin at the present. */
  #at: (ChangePlace & { ahead?: Sight }) | undefined;
  /** It reads the books up to there, and what is next stands behind `after`. */
  #goal: { to: ToldTo; after: ChangePosition | null } | undefined;
  #resync: ResyncReason | undefined;
  #saidReady = false;
  #full = false;
  #wakeWriter: (() => void) | undefined;

  /** @param unsendable is told of what the sink did not take */
  constructor(
    sources: ChangeSources,
    sink: ChangeSink,
    lastEventId: string | undefined,
    unsendable: (error: Unsendable) => void,
  ) {
    this.#sources = sources;
    this.#sink = sink;
    this.#unsendable = unsendable;
    const after = lastEventId === undefined ? undefined : parseCursor(lastEventId);
    if (lastEventId !== undefined && after === undefined) this.#resync = "unknown-position";
    if (after !== undefined) this.#at = { database: after.database, xid: after.xid + 1n };
  }

  get isBehind(): boolean {
    return this.#state === "behind";
  }

  get isLive(): boolean {
    return this.#state === "live";
  }

  resume(): void {
    this.#full = false;
    this.#wakeWriter?.();
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#wakeWriter?.();
    this.#sink.end();
  }

  /**
   * Where it is means nothing: it is told to read the lists again, and goes on at the present. Called for another database, or one whose
   * counter went backwards (restored), and where more has changed than is replayed.
   */
  startOver(why: ResyncReason = "unknown-position"): void {
    if (this.#state === "live") this.#state = "behind";
    this.#at = undefined;
    this.#goal = undefined;
    this.#resync = why;
  }

  /** Sends what the hub has read. A stream that has no room for it reads it from the books later. */
  take(events: readonly ReadEvent[]): void {
    if (this.#state !== "live") return;
    try {
      for (const { event } of events) {
        if (this.#full) break;
        this.#send(event);
      }
    } catch (error) {
      return this.#skip(error);
    }
    if (this.#full) this.fallBehind();
  }

  /** All up to there was taken, if it is live still. */
  reach(place: ToldTo): void {
    if (this.#state === "live") this.#at = place;
  }

  /** It goes on from where it is by itself. */
  fallBehind(): void {
    if (this.#isOpen()) this.#state = "behind";
  }

  /**
   * Reads from the books up to where the hub was as it began, takes from memory how far that has come meanwhile, and goes live in the very
   * tick in which it is at the hub's place.
   * A rejection (database away) leaves the stream behind, where it was, to be called again; so does a hub that has no place just then.
   */
  async catchUp(): Promise<void> {
    this.#state = "catching-up";
    try {
      while (this.#isOpen()) {
        const { place } = this.#sources.handedOn;
        if (place === undefined) return this.fallBehind();
        if (this.#at !== undefined && (this.#at.database !== place.database || this.#at.xid > place.xid)) this.startOver();
        this.#at ??= this.#begin(place);
        if (this.#at === place && !this.#full) return this.#goLive(place);
        await this.#room();
        await this.#goOn().catch((error: unknown) => this.#skip(error));
      }
    } catch (error) {
      if (error instanceof Unsendable) return this.#giveUp(error);
      this.fallBehind();
      throw error;
    }
  }

  #begin(place: ToldTo): ToldTo {
    if (this.#resync !== undefined) this.#send({ kind: "resync", cursor: cursorAtEnd(place), reason: this.#resync });
    this.#resync = undefined;
    return place;
  }

  #goLive(place: ToldTo): void {
    this.#state = "live";
    if (!this.#saidReady) this.#send({ kind: "ready", cursor: cursorAtEnd(place) });
    this.#saidReady = true;
  }

  async #goOn(): Promise<void> {
    if (this.#at === undefined) return; // it was told to start over as it waited for room
    const { handedOn, inTurn } = this.#sources;
    const moves = this.#goal === undefined ? handedOn.since(this.#at) : undefined;
    if (moves !== undefined) this.#takeMoves(moves);
    else await inTurn(() => this.#readOn());
  }

  /** One that does not fit is read on from the books. */
  #takeMoves(moves: readonly Move[]): void {
    for (const { to, events } of moves) {
      for (const { event, at } of events) {
        this.#send(event);
        if (this.#full) {
          this.#goal = { to, after: at };
          return;
        }
      }
      this.#at = to;
    }
  }

  /** What is final first, then what is ahead of it: until it is at its goal, or has no room. */
  async #readOn(): Promise<void> {
    const { place } = this.#sources.handedOn;
    if (this.#at === undefined || place === undefined) return; // it was told to start over as it waited for its turn
    const goal = (this.#goal ??= { to: place, after: null });
    const { to } = goal;
    if (this.#at.xid < to.xid) {
      const { database, xid: from } = this.#at;
      if (!(await this.#replay(goal, { from, to: to.xid }, (xid) => cursorOf({ database, xid })))) return;
      this.#at = { ...this.#at, xid: to.xid };
      goal.after = null;
    }
    const ahead = { from: firstUnseen(this.#at.ahead, to.ahead, to.xid), to: to.ahead.latest };
    if (ahead.from < ahead.to && !(await this.#replay(goal, ahead, noCursor))) return;
    this.#at = to;
    this.#goal = undefined;
  }

  /** @returns whether all was sent */
  async #replay(goal: { after: ChangePosition | null }, range: XidRange, cursorAt: CursorAt): Promise<boolean> {
    const { log } = this.#sources;
    if (goal.after === null && (await log.count(range, MAX_REPLAYED_ROWS + 1)) > MAX_REPLAYED_ROWS) {
      this.startOver("too-far-behind");
      return false;
    }
    for await (const { events } of readEvents(log, range, cursorAt, goal.after)) {
      for (const { event, at } of events) {
        if (this.#goal !== goal || !this.#isOpen()) return false;
        this.#send(event);
        goal.after = at;
        if (this.#full) return false;
      }
    }
    return this.#goal === goal;
  }

  #send(event: ChangeEvent): void {
    try {
      if (this.#isOpen() && !this.#sink.send(event)) this.#full = true;
    } catch (error) {
      throw new Unsendable(event.kind, error);
    }
  }

  /** What cannot be sent would stand in the way of all that comes behind it, again and again: the client reads the lists instead. */
  #skip(error: unknown): void {
    if (!(error instanceof Unsendable)) throw error;
    this.#unsendable(error);
    this.startOver();
  }

  /** Not even the `resync` can be sent. Its client comes again, with its place. */
  #giveUp(error: Unsendable): void {
    this.#unsendable(error);
    this.close();
  }

  async #room(): Promise<void> {
    while (this.#full && this.#isOpen()) await new Promise<void>((resolve) => (this.#wakeWriter = resolve));
  }

  #isOpen(): boolean {
    return this.#state !== "closed";
  }
}

/** Of a place that all was sent up to. */
const cursorAtEnd = ({ database, xid }: ChangePlace): string => cursorOf({ database, xid: xid - 1n });
