import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import { backoffMs } from "@unacked/contracts";
import type { FiringOutcome } from "../../../operations/timers/timer-store.ts";
import { NotTried, PoolWindows } from "../pools/pool-window.ts";

/** Where none of a name is confirmed for so long, most that waits for its place is not tried: it has the room of timers of other names. */
const PATIENCE_MS = 1_500;
/** Fewer than RabbitMQ bears of one queue that confirms nothing: whatever queues they are for, it goes on to read. */
const MOST_ASIDE = 16;
/** A name that holds its place until it is too late leaves it to others for as long as all that do would need, twice over. */
const REST = { ofTook: 2, maxMs: 300_000 };
/** For so long the connection aside may be made again. Then its names go by the main one: it may never be, where no more connections are allowed. */
const AWAY_MS = 30_000;
/** Of a name that stands back, one is wanted again at least so often; one that is not has been cancelled, or fired by another manager. */
const WANTED_MS = 60_000;
/** The first of more are forgotten, and go with all others. */
const MAX_NAMES = 10_000;
/** A queue that is full, but for a moment now and then, looks as if it were the connection: others are to lose theirs seldom for it. */
const RENEWALS = { firstMs: 30_000, maxMs: 600_000 };

/** What it says of the queues of its name, and of no others. */
const NOT_TAKEN: ReadonlySet<FiringOutcome> = new Set(["refused", "too-late"]);
/** Their queue has kept them waiting. */
const UNANSWERED: ReadonlySet<FiringOutcome> = new Set(["too-late", "unknown"]);
/** The broker has answered for them. */
const ANSWERED: ReadonlySet<FiringOutcome> = new Set(["fired", "returned"]);

/** Of a name that was not taken. */
interface Way {
  /** Of those aside one was taken, and none yet with all others. */
  isBack: boolean;
  restsUntilMs: number;
  /** When one of it was to be sent last. */
  wantedAtMs: number;
}

/**
 * Timers, by two connections. A quorum queue without its majority confirms nothing, and RabbitMQ soon reads no more from a connection that has more than 32
 * open for it, whatever else goes through that. So little of a name is open at a time, and a name of which one was not taken goes aside, one by one, until one is.
 * The same where a queue refuses them: one that had no leader for a moment may go on to refuse a channel for as long as that lives (refusals.ts).
 */
export class TimerPublisher {
  readonly #main: Publisher;
  readonly #aside: Publisher;
  readonly #windows = new PoolWindows({ patienceMs: PATIENCE_MS });
  readonly #ways = new Map<string, Way>();
  /** Names of which one is on its way aside. */
  readonly #trying = new Set<string>();
  /** Since when the connection aside was not there when it was wanted. */
  #awaySinceMs: number | undefined;
  #renewals = 0;
  #renewableAtMs = Number.NEGATIVE_INFINITY;

  /** @param aside gives its connection up where all is refused there (`mustBeTaken`); connects with the first name that goes there */
  constructor(main: Publisher, aside: Publisher) {
    this.#main = main;
    this.#aside = aside;
  }

  /** Its routing key is the timer's name. Never rejects. */
  publish(message: Outgoing): Promise<FiringOutcome> {
    const way = this.#ways.get(message.routingKey);
    return way === undefined || way.isBack ? this.#publishWithAll(message) : this.#publishAlone(message, way);
  }

  async #publishWithAll(message: Outgoing): Promise<FiringOutcome> {
    const name = message.routingKey;
    const outcome = await this.#inItsWindow(name, message);
    if (ANSWERED.has(outcome)) this.#ways.delete(name);
    if (NOT_TAKEN.has(outcome)) this.#goAside(name, outcome);
    return outcome;
  }

  async #inItsWindow(name: string, message: Outgoing): Promise<FiringOutcome> {
    let outcome: FiringOutcome = "not-sent";
    try {
      await this.#windows.through(name, async () => {
        outcome = await published(this.#main, message);
        if (!ANSWERED.has(outcome)) throw new NotTaken(outcome);
      });
    } catch (error) {
      if (error instanceof NotTried) return this.#isItsQueue(error) ? "not-tried" : "not-sent";
    }
    return outcome;
  }

  /** And not the broker, which is away, or blocks. */
  #isItsQueue({ cause }: NotTried): boolean {
    return cause instanceof NotTaken ? NOT_TAKEN.has(cause.outcome) : this.#main.isWritable;
  }

  /** No other of its name meanwhile. */
  async #publishAlone(message: Outgoing, way: Way): Promise<FiringOutcome> {
    const name = message.routingKey;
    const sentAtMs = performance.now();
    way.wantedAtMs = sentAtMs;
    if (this.#trying.has(name) || this.#trying.size >= MOST_ASIDE || sentAtMs < way.restsUntilMs) return "not-tried";
    this.#trying.add(name);
    const by = this.#isAsideAway(sentAtMs) ? this.#main : this.#aside;
    const outcome = await published(by, message);
    this.#trying.delete(name);
    const nowMs = performance.now();
    if (ANSWERED.has(outcome)) this.#answered(name, by);
    if (by === this.#main && outcome === "too-late")
      way.restsUntilMs = nowMs + REST.maxMs; // it has ended the connection of all
    else if (UNANSWERED.has(outcome)) way.restsUntilMs = nowMs + this.#restMs(nowMs - sentAtMs);
    return outcome === "not-sent" ? "not-tried" : outcome; // it has its pause: others can be sent meanwhile
  }

  #isAsideAway(nowMs: number): boolean {
    if (this.#aside.isWritable) this.#awaySinceMs = undefined;
    else this.#awaySinceMs ??= nowMs;
    return this.#awaySinceMs !== undefined && nowMs - this.#awaySinceMs >= AWAY_MS;
  }

  #answered(name: string, by: Publisher): void {
    if (by === this.#main) this.#ways.delete(name);
    else this.#ways.set(name, { isBack: true, restsUntilMs: 0, wantedAtMs: 0 });
  }

  /** None where all of them have a place. */
  #restMs(tookMs: number): number {
    const sinceMs = performance.now() - WANTED_MS;
    const aside = [...this.#ways.values()].filter(({ isBack, wantedAtMs }) => !isBack && wantedAtMs >= sinceMs).length;
    return Math.min(REST.maxMs, REST.ofTook * tookMs * Math.floor(aside / MOST_ASIDE));
  }

  #goAside(name: string, outcome: FiringOutcome): void {
    const way = this.#ways.get(name);
    if (way !== undefined && !way.isBack) return;
    if (way?.isBack && outcome === "refused") this.#renew(name);
    this.#aside.start();
    const [first] = this.#ways.keys();
    if (first !== undefined && this.#ways.size >= MAX_NAMES) this.#ways.delete(first);
    this.#ways.set(name, { isBack: false, restsUntilMs: 0, wantedAtMs: performance.now() });
  }

  /** It was taken aside, and is refused here. */
  #renew(name: string): void {
    const nowMs = performance.now();
    if (nowMs < this.#renewableAtMs) return;
    this.#renewableAtMs = nowMs + backoffMs(RENEWALS, this.#renewals);
    this.#renewals += 1;
    this.#main.startOver(`it refuses timers named ${name}, which another connection takes`);
  }
}

/** Of the one that was sent before. */
class NotTaken extends Error {
  override readonly name = "NotTaken";
  readonly outcome: FiringOutcome;

  constructor(outcome: FiringOutcome) {
    super(outcome);
    this.outcome = outcome;
  }
}

async function published(publisher: Publisher, message: Outgoing): Promise<FiringOutcome> {
  try {
    await publisher.publish(message);
    return "fired";
  } catch (error) {
    return error instanceof PublishError ? outcomeOf(error.code) : "unknown";
  }
}

function outcomeOf(code: PublishError["code"]): FiringOutcome {
  switch (code) {
    case "returned":
    case "too-late":
      return code;
    case "nacked":
    case "invalid": // checked before it was taken; if not, it is tried until it expires, and seen
      return "refused";
    case "lost":
      return "unknown";
    case "unavailable":
    case "overflow":
    case "unwanted":
      return "not-sent";
    default:
      return code satisfies never;
  }
}
