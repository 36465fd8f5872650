import type { LeaseLoss } from "../lease/lease.ts";
import type { ProofAnswer } from "../lease/lease-keeper.ts";

/** With fewer workers nothing is gained by care. */
const LEAST = 16;
/** Of all workers, after the first loss. */
const FIRST_PART = 16;
/** So much of a window may still be on its way when the broker is asked whether it keeps up. */
const REST_PART = 4;
/** What takes longer to begin is waited for no more: the broker's answer tells whether that is its fault. */
const BEGINS_WITHIN_MS = 10_000;
/** An answer within so many heartbeats is a quick one, and one beyond so many a slow one. A proof has 1.5 until the lease is lost. */
const QUICK_HEARTBEATS = 0.1;
const SLOW_HEARTBEATS = 0.5;
/** Where nothing comes that could be taken, care is over by then … */
const LAPSES_MS = 60_000;
/** … and by then a loss is the first again. */
const FORGOTTEN_MS = 600_000;

/** A window, from its first message to the answer that lets the next begin. */
type Window =
  | { readonly phase: "taking" | "answered" }
  /** All of it has come. */
  | { readonly phase: "spent"; readonly atMs: number }
  /** Nearly all of it has begun, and was told of. */
  | { readonly phase: "settled"; readonly spentAtMs: number; readonly atMs: number };

/**
 * How much is taken at once by a service that could not prove in time that it lives. Its host, or the broker, had more to do than it could, and
 * all that it lost comes again, here or elsewhere: taken at once as before, that would be too much again, for ever. So it takes a window of
 * it, and the next when that has begun and the broker has answered since. Windows grow and shrink as TCP's do (slow start and congestion
 * avoidance, RFC 5681): twice as large after a quick answer, up to half of what was too much; from there on by the first window each time; half as
 * large after a slow one. Each loss begins with half of what the one before began with. Pure: time is an argument. A crash forgets it: who begins anew
 * has no lease to lose yet.
 */
export class Caution {
  readonly #workers: number;
  /** How many at once; undefined: as many as there are workers free. */
  #size: number | undefined;
  /** What the last loss made it begin with; 0: there was none. */
  #first = 0;
  /** Below it windows double. */
  #threshold = 0;
  #lostAtMs = 0;
  /** When something of this happened last. */
  #sinceMs = 0;
  #window: Window = { phase: "taking" };
  /** It was this that kept it small, and not that few workers were free. */
  #isLimit = false;

  constructor(workers: number) {
    this.#workers = workers;
  }

  /** @returns whether it is careful from now on */
  leaseLost(why: LeaseLoss, nowMs: number): boolean {
    // A connection that ended says nothing of how fast anything is: after a restart of the broker all is taken at once.
    if (why !== "deadline-passed" || this.#workers <= LEAST) return false;
    const isFirst = this.#first === 0 || nowMs - this.#lostAtMs >= FORGOTTEN_MS;
    this.#threshold = Math.ceil((this.#size ?? this.#workers) / 2);
    this.#first = Math.max(LEAST, Math.ceil(isFirst ? this.#workers / FIRST_PART : this.#first / 2));
    this.#size = this.#first;
    this.#lostAtMs = nowMs;
    this.#sinceMs = nowMs;
    return true;
  }

  /** How many at once; undefined: it is over, or there was no reason for it. */
  size(nowMs: number): number | undefined {
    const { phase } = this.#window;
    const isWaiting = phase === "spent" || phase === "settled";
    if (!isWaiting && nowMs - this.#sinceMs >= LAPSES_MS) this.#size = undefined;
    return this.#size;
  }

  /** Whether the next window may begin. */
  get mayGoOn(): boolean {
    return this.#window.phase === "answered";
  }

  /** For how long it has taken nothing, in ms. */
  waitsMs(nowMs: number): number {
    if (this.#size === undefined) return 0;
    if (this.#window.phase === "spent") return nowMs - this.#window.atMs;
    return this.#window.phase === "settled" ? nowMs - this.#window.spentAtMs : 0;
  }

  /** A new session, or a window that begins. @param taken how many at most */
  begin(taken: number, nowMs: number): void {
    this.#window = { phase: "taking" };
    this.#sinceMs = nowMs;
    this.#isLimit = taken >= (this.#size ?? 0);
  }

  /**
   * How the window stands. @returns whether the broker is to be asked for an answer
   *
   * @param underWay how many of it have not begun, or were not told of
   */
  look({ isSpent, underWay }: { isSpent: boolean; underWay: () => number }, nowMs: number): boolean {
    if (this.#size === undefined) return false;
    if (this.#window.phase === "taking" && isSpent) this.#window = { phase: "spent", atMs: nowMs };
    if (this.#window.phase === "spent") {
      const spentAtMs = this.#window.atMs;
      const hasBegun = nowMs - spentAtMs >= BEGINS_WITHIN_MS || underWay() <= this.#size / REST_PART;
      if (hasBegun) this.#window = { phase: "settled", spentAtMs, atMs: nowMs };
    }
    return this.#window.phase === "settled";
  }

  /** @returns whether the next window may begin now: proofs that were sent before are none of it */
  answered({ sentAtMs, tookMs, heartbeatMs }: ProofAnswer): boolean {
    if (this.#size === undefined || this.#window.phase !== "settled" || sentAtMs < this.#window.atMs) return false;
    this.#window = { phase: "answered" };
    this.#sinceMs = sentAtMs + tookMs;
    if (tookMs > SLOW_HEARTBEATS * heartbeatMs) {
      this.#size = Math.max(LEAST, Math.ceil(this.#size / 2));
      this.#threshold = this.#size;
    } else if (tookMs <= QUICK_HEARTBEATS * heartbeatMs && this.#isLimit) {
      const isBelow = this.#size < this.#threshold;
      this.#size = isBelow ? Math.min(2 * this.#size, this.#threshold) : this.#size + this.#first;
    }
    if (this.#size >= this.#workers) this.#size = undefined;
    return true;
  }
}
