import { newUuid } from "@unacked/contracts";
import type { Log } from "../log.ts";
import { Loop, untilDue } from "../loop.ts";
import type { TimerTally } from "../tally.ts";
import { ClaimInFlight } from "./claim-in-flight.ts";
import { TimerSettler } from "./timer-settler.ts";
import type { DueTimer, FiringOutcome, TimerFiringStore, Tries } from "./timer-store.ts";

const AT_ONCE = 500;
/** So many are of claims that are not over, in each of the two firers: so many of each a crash fires twice. */
const MAX_IN_FLIGHT = 3_000;
/**
 * The payloads of those may have so many characters together before no more are claimed: three thousand of 64 KiB were 190 MB. A set has 16
 * MiB at most.
 */
const MAX_CHARS_IN_FLIGHT = 33_554_432;
/** No set is claimed for fewer. */
const LEAST_ROOM = 250;
const BACKSTOP_MS = 1_000;
const FAILED_PAUSE_MS = 1_000;
/** Each that nobody heard before costs a rest of so long, unless it is heard, or expires: a set of them a second. */
const REST_AFTER_AGAIN_MS = 2;
/** Whether those have been heard that it rests for is looked at so often; where all have, at once. */
const REST_LOOK_MS = 100;
/** What is due and cannot be claimed is looked at so often: somebody has locked it. */
const LOCKED_PAUSE_MS = 100;

/** PostgreSQL ends a statement whose manager has given it up within that time. */
const CLAIM_LOST_FOR_MS = 30_000;

/** Publishes timers. */
export interface TimerSender {
  /** Resolves when the broker can be sent to. Rejects with the signal's reason. */
  ready(signal: AbortSignal): Promise<void>;
  /** Never rejects. */
  send(timer: DueTimer): Promise<FiringOutcome>;
}

export interface TimerFirerParts {
  /** It names this manager, and this boot. */
  owner: string;
  /** Each of the two has a firer of its own, so that what nobody hears takes none of the others' room. */
  tries: Tries;
  store: TimerFiringStore;
  sender: TimerSender;
  tally: TimerTally;
  log: Log;
}

/**
 * Comes in: timers that are due. Guarantees: each is committed as Firing before it is published, so that what a cancel was told holds; nothing
 * is claimed while the broker cannot be sent to, and no transaction is open while it is waited for. A crash leaves what is Firing to
 * whoever sees its lease run out. Every crash: docs/decisions/0014-timers.md.
 */
export class TimerFirer {
  readonly #parts: TimerFirerParts;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  readonly #settler: TimerSettler;
  readonly #claims = new Set<ClaimInFlight>();
  /** How many timers of these claims are not written. */
  #inFlight = 0;
  /** Characters of the payloads of timers of which it is not known yet what became. */
  #charsInFlight = 0;
  /** The last claims were full. */
  #isBehind = false;
  /** How often in a row something was due and none was claimed. Once may be another manager, which was quicker. */
  #foundNone = 0;
  /** When the next timer is due, by `performance.now()`, as far as was seen; infinity: it is to be looked again. */
  #dueAtMs = Number.POSITIVE_INFINITY;
  /** Nothing is claimed before, by `performance.now()`. */
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  /** Claims of which this manager never heard, as their connection was lost, and when to look whether they were committed. */
  #looks: { claimId: string; atMs: number }[] = [];

  constructor(parts: TimerFirerParts) {
    this.#parts = parts;
    const { store, log } = parts;
    this.#settler = new TimerSettler({
      store,
      settled: (timers) => this.#settled(timers),
      finished: (claim) => this.#claims.delete(claim),
      log,
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Something may be due earlier. */
  wake(): void {
    this.#loop.wake();
  }

  /** Claims no more, waits for what is on its way (until the sender is closed, too), and writes it down. */
  async stop(): Promise<void> {
    await this.#loop.end();
    await Promise.all([...this.#claims].map(({ known }) => known));
    await this.#settler.close();
  }

  async #round(): Promise<number> {
    const { store, sender, tries } = this.#parts;
    await sender.ready(this.#loop.signal);
    const isWoken = this.#loop.takeWake();
    if (!this.#hasRoom) return BACKSTOP_MS; // what is written down wakes it
    await this.#disownLost();
    const restMs = this.#restsUntilMs - performance.now();
    if (restMs > 0) return Math.min(restMs, REST_LOOK_MS);
    let isSeenDue = false;
    if (!isWoken && !this.#isBehind && performance.now() < this.#dueAtMs) {
      const dueInMs = (await store.nextDueInMs(tries)) ?? Number.POSITIVE_INFINITY;
      this.#dueAtMs = performance.now() + dueInMs;
      isSeenDue = dueInMs <= 0;
      if (!isSeenDue) {
        this.#foundNone = 0;
        return untilDue(dueInMs, BACKSTOP_MS);
      }
    }
    this.#dueAtMs = Number.POSITIVE_INFINITY;
    const room = MAX_IN_FLIGHT - this.#inFlight;
    const isRoomForTwo = room >= 2 * AT_ONCE && this.#charsInFlight < MAX_CHARS_IN_FLIGHT / 2;
    const sets = this.#isBehind && isRoomForTwo ? 2 : 1;
    const limit = Math.min(AT_ONCE, room);
    const found = await this.#claimSets(sets, limit);
    this.#isBehind = found.every((count) => count === limit);
    if (found.some((count) => count > 0)) this.#foundNone = 0;
    else if (isSeenDue) this.#foundNone += 1;
    return this.#foundNone > 1 ? LOCKED_PAUSE_MS : 0;
  }

  /** Claims sets beside each other: while one is committed, the other is executed. @returns how many each found */
  async #claimSets(sets: number, limit: number): Promise<number[]> {
    const claims = await Promise.allSettled(Array.from({ length: sets }, () => this.#claim(limit)));
    return claims.map((claim) => {
      if (claim.status === "rejected") throw claim.reason;
      return claim.value;
    });
  }

  /** @returns how many were due, or have expired; all that were asked for where their payloads were too long */
  async #claim(limit: number): Promise<number> {
    const { store, owner, tally, tries } = this.#parts;
    const claimId = newUuid();
    const claimedAtMs = performance.now();
    const { due, expired, isCut } = await store.claim({ owner, claimId }, limit, tries).catch((error) => {
      const nowMs = performance.now();
      this.#looks.push({ claimId, atMs: nowMs }, { claimId, atMs: nowMs + CLAIM_LOST_FOR_MS });
      throw error;
    });
    tally.expired(expired);
    if (tries === "again") this.#rest(due.length * REST_AFTER_AGAIN_MS);
    if (due.length > 0) this.#fire(due, new ClaimInFlight(claimId, due.length, claimedAtMs));
    return isCut ? limit : due.length + expired;
  }

  /** There are two looks at each: one now, for most, and one when it can be committed no more. */
  async #disownLost(): Promise<void> {
    const nowMs = performance.now();
    const due = this.#looks.filter(({ atMs }) => atMs <= nowMs);
    if (due.length === 0) return;
    await this.#parts.store.disown(due.map(({ claimId }) => claimId));
    this.#looks = this.#looks.filter((look) => !due.includes(look));
  }

  /** It is not awaited: what is claimed is sent at once, and the next set is claimed meanwhile. */
  #fire(due: readonly DueTimer[], claim: ClaimInFlight): void {
    const { sender, tally } = this.#parts;
    this.#claims.add(claim);
    this.#settler.begin(claim);
    this.#inFlight += due.length;
    for (const { payload } of due) this.#charsInFlight += payload.length;
    for (const timer of due)
      void sender.send(timer).then((outcome) => {
        this.#change(() => (this.#charsInFlight -= timer.payload.length));
        this.#settler.add(claim, timer.id, outcome);
        if (outcome === "fired") this.#shortenRest();
        tally.tried(outcome, timer.lateMs + performance.now() - claim.claimedAtMs);
      });
  }

  #rest(ms: number): void {
    this.#restsUntilMs = Math.max(this.#restsUntilMs, performance.now()) + ms;
  }

  /** One was heard: the rest of the others goes on. */
  #shortenRest(): void {
    const nowMs = performance.now();
    if (this.#restsUntilMs <= nowMs) return;
    this.#restsUntilMs -= REST_AFTER_AGAIN_MS;
    if (this.#restsUntilMs <= nowMs) this.wake();
  }

  #settled(timers: number): void {
    this.#change(() => (this.#inFlight -= timers));
  }

  /** Wakes the loop where this makes room. */
  #change(less: () => void): void {
    const hadRoom = this.#hasRoom;
    less();
    if (!hadRoom && this.#hasRoom) this.wake();
  }

  get #hasRoom(): boolean {
    return MAX_IN_FLIGHT - this.#inFlight >= LEAST_ROOM && this.#charsInFlight < MAX_CHARS_IN_FLIGHT;
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "timers could not be fired, trying again");
    this.#loop.takeWake(); // what wakes it does not shorten the pause
    return FAILED_PAUSE_MS;
  }
}
