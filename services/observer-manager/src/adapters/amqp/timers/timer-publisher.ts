import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import { backoffMs } from "@unacked/contracts";
import type { FiringOutcome } from "../../../operations/timers/timer-store.ts";
import { NotTried, PoolWindows } from "../pools/pool-window.ts";

/** Where none of a name is confirmed for so long, what waits for its place is not tried: it has the room of timers of other names. */
const PATIENCE_MS = 1_500;
/** Fewer than RabbitMQ bears of one queue that confirms nothing: whatever queues they are for, it goes on to read. */
const MOST_ASIDE = 16;
/** The first of more are forgotten, and go with all others. */
const MAX_NAMES = 10_000;
/** A queue that is full, but for a moment now and then, looks as if it were the connection: others are to lose theirs seldom for it. */
const RENEWALS = { firstMs: 30_000, maxMs: 600_000 };

/** What it says of the queues of its name, and of no others. */
const NOT_TAKEN: ReadonlySet<FiringOutcome> = new Set(["refused", "too-late", "not-tried"]);
/** The broker has answered for them. */
const ANSWERED: ReadonlySet<FiringOutcome> = new Set(["fired", "returned"]);

/**
 * Timers, by two connections. A quorum queue without its majority confirms nothing, and RabbitMQ soon reads no more from a connection that has more than 32
 * open for it, whatever else goes through that. So little of a name is open at a time, and a name of which one was not taken goes aside, one by one, until one is.
 * The same where a queue refuses them: one that had no leader for a moment may go on to refuse a channel for as long as that lives (refusals.ts).
 */
export class TimerPublisher {
  readonly #main: Publisher;
  readonly #aside: Publisher;
  readonly #windows = new PoolWindows({ patienceMs: PATIENCE_MS });
  /** Names that were not taken. `back`: one was, aside, and none yet with all others. */
  readonly #ways = new Map<string, "aside" | "back">();
  /** Names of which one is on its way aside. */
  readonly #trying = new Set<string>();
  #renewals = 0;
  #renewableAtMs = Number.NEGATIVE_INFINITY;

  /** @param aside gives its connection up where all is refused there (`mustBeTaken`); connects with the first name that goes there */
  constructor(main: Publisher, aside: Publisher) {
    this.#main = main;
    this.#aside = aside;
  }

  /** Its routing key is the timer's name. Never rejects. */
  publish(message: Outgoing): Promise<FiringOutcome> {
    return this.#ways.get(message.routingKey) === "aside" ? this.#publishAside(message) : this.#publishWithAll(message);
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

  async #publishAside(message: Outgoing): Promise<FiringOutcome> {
    const name = message.routingKey;
    if (this.#trying.has(name) || this.#trying.size >= MOST_ASIDE) return "not-tried";
    this.#trying.add(name);
    const outcome = await published(this.#aside, message);
    this.#trying.delete(name);
    if (ANSWERED.has(outcome)) this.#ways.set(name, "back");
    return outcome === "not-sent" ? "not-tried" : outcome; // it has its pause: others can be sent meanwhile
  }

  #goAside(name: string, outcome: FiringOutcome): void {
    const way = this.#ways.get(name);
    if (way === "aside") return;
    if (way === "back" && outcome === "refused") this.#renew(name);
    this.#aside.start();
    const [first] = this.#ways.keys();
    if (first !== undefined && this.#ways.size >= MAX_NAMES) this.#ways.delete(first);
    this.#ways.set(name, "aside");
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
