import type { LeaseLoss } from "../lease/lease.ts";
import type { ProofAnswer } from "../lease/proofs.ts";

/** With fewer workers than this, care gains nothing. */
const LEAST = 16;
/** The first window after a loss is all workers divided by this. */
const FIRST_PART = 16;
/** A window divided by this may still be on its way when the broker is asked whether it keeps up. */
const REST_PART = 4;
/** Runs that take longer to begin are no longer waited for. The broker's answer tells whether it is the cause. */
const BEGINS_WITHIN_MS = 10_000;
/**
 * An answer within so many heartbeats is quick, and one beyond so many is slow. A proof has 1.5 heartbeats until the lease is lost.
 */
const QUICK_HEARTBEATS = 0.1;
const SLOW_HEARTBEATS = 0.5;
/** If nothing comes that could be taken, care ends after this … */
const LAPSES_MS = 60_000;
/** … and after this a loss counts as the first again. */
const FORGOTTEN_MS = 600_000;

/** A window, from its first message to the answer that lets the next begin. */
type Window =
  | { readonly phase: "taking" | "answered" }
  /** All of the window has come. */
  | { readonly phase: "spent"; readonly atMs: number }
  /** Nearly all of it has begun, and was reported. */
  | { readonly phase: "settled"; readonly spentAtMs: number; readonly atMs: number };

/**
 * Bounds how much a service takes at once after it could not prove in time that it lives. Its host, or the broker, had more to do than it
 * could, and all that it lost comes again, here or elsewhere: taken at once as before, that would be too much again, for ever. So it takes
 * a window of it, and the next one when that has begun and the broker has answered since. Windows grow and shrink as TCP's do (slow start
 * and congestion avoidance, RFC 5681): twice as large after a quick answer, up to half of what was too much; from there on by the first
 * window each time; half as large after a slow one. Each loss begins with half of what the one before began with. Pure: time is an
 * argument. A crash forgets it: a new process has no lease to lose yet.
 */
export class Caution {
  readonly #workers: number;
  /** How many are taken at once. Undefined means as many as there are free workers. */
  #size: number | undefined;
  /** The window with which the last loss made it begin; 0 if there was none. */
  #first = 0;
  /** Below this size windows double. */
  #threshold = 0;
  #lostAtMs = 0;
  /** When the state last changed. */
  #sinceMs = 0;
  #window: Window = { phase: "taking" };
  /** Whether this bound, rather than a lack of free workers, kept the intake small. */
  #isLimit = false;

  constructor(workers: number) {
    this.#workers = workers;
  }

  /** @returns whether it is careful from now on */
  leaseLost(why: LeaseLoss, nowMs: number): boolean {
    // The end of a connection says nothing about speed: after a restart of the broker everything is taken at once.
    if (why !== "deadline-passed" || this.#workers <= LEAST) return false;
    const isFirst = this.#first === 0 || nowMs - this.#lostAtMs >= FORGOTTEN_MS;
    this.#threshold = Math.ceil((this.#size ?? this.#workers) / 2);
    this.#first = Math.max(LEAST, Math.ceil(isFirst ? this.#workers / FIRST_PART : this.#first / 2));
    this.#size = this.#first;
    this.#lostAtMs = nowMs;
    this.#sinceMs = nowMs;
    return true;
  }

  /** How many are taken at once. Undefined if care is over, or was never needed. */
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
