import type { ChangesResync } from "@unacked/contracts";
import {
  type Change,
  type ChangeLog,
  type ChangePlace,
  firstUnseen,
  type LoggedChange,
  type Sight,
  type ToldTo,
  type XidRange,
} from "./change-log.ts";

/** More changed rows than this are not replayed: reading the lists again is cheaper for both. */
export const MAX_REPLAYED_ROWS = 10_000;

export type ResyncReason = ChangesResync["reason"];

/**
 * What a client is told. `cursor` says "everything up to here was sent", so it stands on an event only when all rows of its
 * transaction went before, and on none that is told ahead of an older transaction that still runs. `ready`: from here on live. `resync`: read the lists again, some changes were skipped.
 */
export type ChangeEvent =
  | (Change & { cursor?: string })
  | { kind: "ready"; cursor: string }
  | { kind: "resync"; cursor: string; reason: ResyncReason };

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

/**
 * One client's place in the stream of changes. Comes in: where it was last time, if it says so. Guarantees: no change is
 * skipped without a `resync`, and memory stays bounded, since a client that is behind or slow reads from the books at its own
 * pace until it has caught up, and only then gets the live batches. Holds nothing that a crash could lose: the place is the
 * client's own (`Last-Event-ID`) and holds for every manager.
 */
export class ChangeStream {
  readonly #log: ChangeLog;
  readonly #sink: ChangeSink;
  readonly #unsendable: (error: Unsendable) => void;
  #state: "behind" | "catching-up" | "live" | "closed" = "behind";
  /** The first xid not yet sent. Undefined: begin at the present. */
  #next: bigint | undefined;
  /** The database in which `#next` is a place. */
  #database = "";
  /** What was seen by the last look ahead of `#next` of which all was sent. */
  #ahead: Sight | undefined;
  #resync: ResyncReason | undefined;
  #saidReady = false;
  #full = false;
  #wakeWriter: (() => void) | undefined;

  /** @param unsendable is told of what the sink did not take */
  constructor(log: ChangeLog, sink: ChangeSink, lastEventId: string | undefined, unsendable: (error: Unsendable) => void) {
    this.#log = log;
    this.#sink = sink;
    this.#unsendable = unsendable;
    const after = lastEventId === undefined ? undefined : parseCursor(lastEventId);
    if (lastEventId !== undefined && after === undefined) this.#resync = "unknown-position";
    if (after !== undefined) [this.#next, this.#database] = [after.xid + 1n, after.database];
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

  /** Called for another database, or one whose counter went backwards (restored): every place in it means nothing. */
  startOver(): void {
    if (this.#state === "live") this.#state = "behind";
    this.#next = undefined;
    this.#resync = "unknown-position";
  }

  /** Sends what the hub has read. A stream that has no room for it reads it from the books later. */
  take(events: readonly ChangeEvent[]): void {
    if (this.#state !== "live") return;
    try {
      for (const event of events) {
        if (this.#full) break;
        this.#send(event);
      }
    } catch (error) {
      return this.#skip(error);
    }
    if (this.#full) this.fallBehind();
  }

  /** All up to there was taken, if it is live still. */
  reach({ xid, ahead }: ToldTo): void {
    if (this.#state === "live") [this.#next, this.#ahead] = [xid, ahead];
  }

  /** It reads from the books, from where it is. */
  fallBehind(): void {
    this.#state = "behind";
  }

  /**
   * Reads from the books up to the hub's position, which moves on meanwhile, and goes live in the very tick in which both are equal.
   * A rejection (database away) leaves the stream behind, where it was, to be called again; so does a hub that has no position just then.
   */
  async catchUp(position: () => ToldTo | undefined): Promise<void> {
    this.#state = "catching-up";
    try {
      while (this.#isOpen()) {
        const place = position();
        if (place === undefined) return this.fallBehind();
        const { database, xid: to, ahead } = place;
        if (this.#next !== undefined && (this.#database !== database || this.#next > to)) this.startOver();
        this.#database = database;
        this.#next ??= this.#begin(place);
        if (this.#next === to && this.#ahead === ahead && !this.#full) return this.#goLive(to);
        await this.#room();
        if (this.#isOpen()) await this.#readOn(this.#next, place).catch((error: unknown) => this.#skip(error));
      }
    } catch (error) {
      if (error instanceof Unsendable) return this.#giveUp(error);
      if (this.#isOpen()) this.#state = "behind";
      throw error;
    }
  }

  #begin({ xid, ahead }: ToldTo): bigint {
    if (this.#resync !== undefined) this.#send({ kind: "resync", cursor: this.#cursorAt(xid - 1n), reason: this.#resync });
    this.#resync = undefined;
    this.#ahead = ahead;
    return xid;
  }

  /** One step: what is final first, then what is ahead of it. */
  async #readOn(next: bigint, { xid: to, ahead }: ToldTo): Promise<void> {
    if (next < to) {
      // It stays undefined if the stream was told meanwhile to start over.
      if (await this.#replay({ from: next, to }, (xid) => this.#cursorAt(xid))) this.#next = to;
      return;
    }
    const range = { from: firstUnseen(this.#ahead, ahead, next), to: ahead.latest };
    if (range.from >= range.to || (await this.#replay(range, noCursor))) this.#ahead = ahead;
  }

  #goLive(to: bigint): void {
    this.#state = "live";
    if (!this.#saidReady) this.#send({ kind: "ready", cursor: this.#cursorAt(to - 1n) });
    this.#saidReady = true;
  }

  #cursorAt(xid: bigint): string {
    return cursorOf({ database: this.#database, xid });
  }

  /** @returns whether all was sent */
  async #replay(range: XidRange, cursorAt: CursorAt): Promise<boolean> {
    if ((await this.#log.count(range, MAX_REPLAYED_ROWS + 1)) > MAX_REPLAYED_ROWS) {
      this.#next = undefined;
      this.#resync = "too-far-behind";
      return false;
    }
    for await (const events of readEvents(this.#log, range, cursorAt)) {
      for (const event of events) {
        await this.#room();
        if (!this.#isOpen() || this.#next === undefined) return false;
        this.#send(event);
      }
    }
    return this.#next !== undefined;
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

export type CursorAt = (xid: bigint) => string | undefined;

/** Of what is told ahead: nobody can go on from there. */
export const noCursor: CursorAt = () => undefined;

/** The events of a range, page by page, with a cursor wherever a transaction is complete. */
export async function* readEvents(log: ChangeLog, range: XidRange, cursorAt: CursorAt): AsyncGenerator<ChangeEvent[]> {
  let held: LoggedChange | undefined; // the last of a page: only the next one tells whether its transaction goes on
  let position: Awaited<ReturnType<ChangeLog["page"]>>["next"] = null;
  do {
    const { changes, next } = await log.page(range, position);
    const known: LoggedChange[] = held === undefined ? changes : [held, ...changes];
    held = known.at(-1);
    yield known
      .slice(0, -1)
      .map((logged, index) => toEvent(logged, logged.xid === known[index + 1]?.xid ? undefined : cursorAt(logged.xid)));
    position = next;
  } while (position !== null);
  if (held !== undefined) yield [toEvent(held, cursorAt(range.to - 1n))];
}

function toEvent({ change }: LoggedChange, cursor: string | undefined): ChangeEvent {
  return cursor === undefined ? { ...change } : { ...change, cursor };
}

const MAX_XID = 2n ** 63n;

/**
 * An event id: which database, and the decimal digits of a transaction's 64-bit number. A number alone, as managers of 0.1.0 gave it, is no
 * place: the books may have been restored since, beside the database that it is of, and the server counts on.
 */
export const cursorOf = ({ database, xid }: ChangePlace): string => `${database}-${xid}`;

export function parseCursor(text: string): ChangePlace | undefined {
  const [, database = "", digits = ""] = /^([0-9.-]{1,64})-([0-9]{1,19})$/.exec(text) ?? [];
  if (digits === "") return undefined;
  const xid = BigInt(digits);
  return xid < MAX_XID ? { database, xid } : undefined;
}
