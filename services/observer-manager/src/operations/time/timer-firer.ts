import { newUuid } from "@unacked/contracts";
import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import type { TimerTally } from "../tally.ts";
import { TimerSettler } from "./timer-settler.ts";
import type { DueTimer, Firing, FiringOutcome, TimerFiringStore } from "./timer-store.ts";

const AT_ONCE = 1_000;
/** So many are published and not written down: so many a crash fires twice. */
const MAX_IN_FLIGHT = 2_000;
/** For fewer no set is claimed: each claim goes past all that is in flight. */
const LEAST_ROOM = 800;
const BACKSTOP_MS = 1_000;
const FAILED_PAUSE_MS = 1_000;

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
  /** This manager, this boot. */
  owner: string;
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
  readonly #underWay = new Set<Promise<void>>();
  #inFlight = 0;
  /** Of those in flight: how many of each claim. */
  readonly #ofClaim = new Map<string, number>();
  /** When a claim may still be committed of which this manager never heard, as its connection was lost: now, and the last time. */
  #lostLooksMs: number[] = [];

  constructor(parts: TimerFirerParts) {
    this.#parts = parts;
    const { store, log } = parts;
    this.#settler = new TimerSettler({ store, settled: (firings) => this.#settled(firings), log });
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
    this.#loop.stop();
    await this.#loop.over;
    await Promise.all(this.#underWay);
    await this.#settler.close();
  }

  async #round(): Promise<number> {
    const { store, sender, owner, tally } = this.#parts;
    await sender.ready(this.#loop.signal);
    this.#loop.takeWake();
    if (!this.#hasRoom) return BACKSTOP_MS; // what is written down wakes it
    const room = Math.min(AT_ONCE, MAX_IN_FLIGHT - this.#inFlight);
    await this.#disownLost();
    const claimId = newUuid();
    const claimedAtMs = performance.now();
    const { due, expired } = await store.claim({ owner, claimId }, room);
    tally.expired(expired);
    if (due.length > 0) this.#ofClaim.set(claimId, due.length);
    for (const timer of due) this.#fire(timer, claimId, claimedAtMs);
    if (due.length + expired === room) return 0;
    return Math.min(BACKSTOP_MS, Math.max(1, (await store.nextDueInMs()) ?? BACKSTOP_MS));
  }

  /** Each look reads all timers, so there are two: one now, for most, and one when no more can come. */
  async #disownLost(): Promise<void> {
    const nowMs = performance.now();
    if (!this.#lostLooksMs.some((ms) => ms <= nowMs)) return;
    await this.#parts.store.disown(this.#parts.owner, [...this.#ofClaim.keys()]);
    this.#lostLooksMs = this.#lostLooksMs.filter((ms) => ms > nowMs);
  }

  /** Not awaited: what is claimed is sent at once, and the next set is claimed meanwhile. */
  #fire(timer: DueTimer, claimId: string, claimedAtMs: number): void {
    this.#inFlight += 1;
    const firing = this.#parts.sender.send(timer).then((outcome) => {
      this.#underWay.delete(firing);
      this.#settler.add({ id: timer.id, claimId, outcome });
      this.#parts.tally.tried(outcome, timer.lateMs + performance.now() - claimedAtMs);
    });
    this.#underWay.add(firing);
  }

  #settled(firings: readonly Firing[]): void {
    const hadRoom = this.#hasRoom;
    this.#inFlight -= firings.length;
    for (const { claimId } of firings) {
      const left = (this.#ofClaim.get(claimId) ?? 0) - 1;
      if (left > 0) this.#ofClaim.set(claimId, left);
      else this.#ofClaim.delete(claimId);
    }
    if (!hadRoom && this.#hasRoom) this.wake();
  }

  get #hasRoom(): boolean {
    return MAX_IN_FLIGHT - this.#inFlight >= LEAST_ROOM;
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "timers could not be fired, trying again");
    const nowMs = performance.now();
    this.#lostLooksMs = [nowMs, nowMs + CLAIM_LOST_FOR_MS];
    this.#loop.takeWake(); // what wakes it does not shorten the pause
    return FAILED_PAUSE_MS;
  }
}
