import type { Outgoing, Publisher } from "@unacked/broker";
import { backoffMs } from "@unacked/contracts";
import type { FiringOutcome } from "../../../operations/timers/timer-store.ts";
import { NotTried, PoolWindows } from "../pools/pool-window.ts";
import { NamesAside } from "./names-aside.ts";
import { published } from "./timer-outcome.ts";
import { WhileWritable } from "./while-writable.ts";

/** If no timer of a name is confirmed for this long, most of those that wait are not tried, as they take the room of other names. */
const PATIENCE_MS = 1_500;
/**
 * How long the connection aside may take to come back. After that its names use the main one: it may never come, if no more connections are
 * allowed.
 */
const AWAY_MS = 30_000;
/**
 * How often the main connection may be replaced. A queue that is full, except for moments, looks like a fault of the connection, and
 * others should seldom lose theirs for it.
 */
const RENEWALS = { firstMs: 30_000, maxMs: 600_000 };

/** Outcomes that say something about the queues of the timer's name, and of no others. */
const NOT_TAKEN: ReadonlySet<FiringOutcome> = new Set(["refused", "too-late"]);
/** Outcomes whose queue has kept the timer waiting. */
const UNANSWERED: ReadonlySet<FiringOutcome> = new Set(["too-late", "unknown"]);
/** Outcomes that the broker has answered. */
const ANSWERED: ReadonlySet<FiringOutcome> = new Set(["fired", "returned"]);

/**
 * Publishes timers, by two connections. A quorum queue without its majority confirms nothing, and RabbitMQ soon stops to read from a
 * connection with more than 32 messages open for it, whatever else goes through it. So few timers of a name are open at a time, and after
 * one that was not taken the name goes aside, one by one, until one is. The same applies if a queue refuses them: one that had no leader
 * for a moment may go on to refuse a channel for as long as that lives (refusals.ts). While a connection cannot be written to, nothing
 * waits for it: timers that go back can be cancelled, and expire in time.
 */
export class TimerPublisher {
  readonly #main: Publisher;
  readonly #aside: Publisher;
  readonly #windows = new PoolWindows({ patienceMs: PATIENCE_MS });
  readonly #names = new NamesAside();
  readonly #whileMain: WhileWritable;
  readonly #whileAside: WhileWritable;
  /** Since when the connection aside has been missing while it was wanted. */
  #awaySinceMs: number | undefined;
  #renewals = 0;
  #renewableAtMs = Number.NEGATIVE_INFINITY;

  /** @param aside gives its connection up where all is refused there (`mustBeTaken`); connects with the first name that goes there */
  constructor(main: Publisher, aside: Publisher) {
    this.#main = main;
    this.#aside = aside;
    this.#whileMain = new WhileWritable(main, () => this.#windows.leave(new NotTaken("not-sent")));
    this.#whileAside = new WhileWritable(aside);
  }

  /** The routing key is the timer's name. Never rejects. */
  publish(message: Outgoing): Promise<FiringOutcome> {
    return this.#names.has(message.routingKey) ? this.#publishAlone(message) : this.#publishWithAll(message);
  }

  async #publishWithAll(message: Outgoing): Promise<FiringOutcome> {
    const name = message.routingKey;
    const outcome = await this.#inItsWindow(name, message);
    if (ANSWERED.has(outcome)) this.#names.delete(name);
    if (NOT_TAKEN.has(outcome)) this.#goAside(name, outcome);
    return outcome;
  }

  async #inItsWindow(name: string, message: Outgoing): Promise<FiringOutcome> {
    let outcome: FiringOutcome = "not-sent";
    const { signal } = this.#whileMain;
    try {
      await this.#windows.through(name, async () => {
        outcome = await published(this.#main, message, signal);
        if (!ANSWERED.has(outcome)) throw new NotTaken(outcome);
      });
    } catch (error) {
      if (error instanceof NotTried) return this.#isItsQueue(error) ? "not-tried" : "not-sent";
    }
    return outcome;
  }

  /** Whether the fault is the queue's, and not that the broker is away, or blocks. */
  #isItsQueue({ cause }: NotTried): boolean {
    return cause instanceof NotTaken ? NOT_TAKEN.has(cause.outcome) : this.#main.isWritable;
  }

  /** Publishes while no other timer of its name is on its way. */
  async #publishAlone(message: Outgoing): Promise<FiringOutcome> {
    const name = message.routingKey;
    if (!this.#names.enter(name)) return "not-tried";
    const sentAtMs = performance.now();
    const by = this.#isAsideAway(sentAtMs) ? this.#main : this.#aside;
    const { signal } = by === this.#main ? this.#whileMain : this.#whileAside;
    const outcome = await published(by, message, signal);
    this.#names.leave(name);
    if (ANSWERED.has(outcome)) this.#answered(name, by);
    if (by === this.#main && outcome === "too-late") this.#names.restLongest(name);
    else if (UNANSWERED.has(outcome)) this.#names.rest(name, performance.now() - sentAtMs);
    return outcome === "not-sent" ? "not-tried" : outcome; // the name has its own pause, so others can be sent meanwhile
  }

  #isAsideAway(nowMs: number): boolean {
    if (this.#aside.isWritable) this.#awaySinceMs = undefined;
    else this.#awaySinceMs ??= nowMs;
    return this.#awaySinceMs !== undefined && nowMs - this.#awaySinceMs >= AWAY_MS;
  }

  #answered(name: string, by: Publisher): void {
    if (by === this.#main) this.#names.delete(name);
    else this.#names.bringBack(name);
  }

  #goAside(name: string, outcome: FiringOutcome): void {
    if (this.#names.has(name)) return;
    if (this.#names.isBack(name) && outcome === "refused") this.#renew(name);
    this.#aside.start();
    this.#names.add(name);
  }

  /** Replaces the main connection: it refuses a name that was taken aside. */
  #renew(name: string): void {
    const nowMs = performance.now();
    if (nowMs < this.#renewableAtMs) return;
    this.#renewableAtMs = nowMs + backoffMs(RENEWALS, this.#renewals);
    this.#renewals += 1;
    this.#main.startOver(`it refuses timers named ${name}, which another connection takes`);
  }
}

/** The outcome of the timer that was sent before. */
class NotTaken extends Error {
  override readonly name = "NotTaken";
  readonly outcome: FiringOutcome;

  constructor(outcome: FiringOutcome) {
    super(outcome);
    this.outcome = outcome;
  }
}
