import type { Consumer } from "@unacked/broker";
import type { TaskMessage } from "./task-message.ts";

export interface TaskCreditParts {
  readonly workers: () => number;
  /** The messages whose tasks run here, or wait for a worker. */
  readonly held: () => ReadonlySet<TaskMessage>;
}

const FIRST_LOOK_MS = 100;
const LONGEST_LOOK_MS = 60_000;

/**
 * How much a consumer takes that comes after another: the broker counts what it was given itself alone, while what its predecessors were given
 * has workers still. So it is given the rest, and more as that ends. With the credit of all workers each task went first to
 * whom had no worker free, waited there for a second and went back, for as long as the old ones ran: that may be hours.
 *
 * Each change makes another consumer of which the same holds. It is looked at half as often after each: where tasks come and go, all of them
 * end soon between two looks, and then the broker's count is right.
 */
export class TaskCredit {
  readonly #parts: TaskCreditParts;
  #timer: NodeJS.Timeout | undefined;
  #consumer: Pick<Consumer, "pause" | "resume"> | undefined;
  /** What consumers before the present one were given. */
  #before: ReadonlySet<TaskMessage> = new Set();
  #given = 0;
  #lookMs = FIRST_LOOK_MS;

  constructor(parts: TaskCreditParts) {
    this.#parts = parts;
  }

  /** Of a consumer that is paused. */
  begin(consumer: Pick<Consumer, "pause" | "resume">): void {
    this.end();
    this.#before = this.#parts.held();
    this.#given = 0;
    this.#lookMs = FIRST_LOOK_MS;
    this.#consumer = consumer;
    this.#look(consumer);
  }

  /** There may be other workers. */
  look(): void {
    clearTimeout(this.#timer);
    if (this.#consumer !== undefined) this.#look(this.#consumer);
  }

  /** It is to take nothing more, or is gone. */
  end(): void {
    clearTimeout(this.#timer);
    this.#consumer = undefined;
  }

  #look(consumer: Pick<Consumer, "pause" | "resume">): void {
    const held = this.#parts.held();
    const left = new Set([...this.#before].filter((message) => held.has(message)));
    const workers = this.#parts.workers();
    const credit = Math.max(0, workers - left.size);
    this.#before = left;
    if (credit !== this.#given) this.#change(consumer, credit, held);
    if (this.#before.size > 0 || credit < workers)
      this.#timer = setTimeout(() => this.#look(consumer), this.#lookMs).unref();
  }

  #change(consumer: Pick<Consumer, "pause" | "resume">, credit: number, held: ReadonlySet<TaskMessage>): void {
    this.#before = held;
    this.#given = credit;
    this.#lookMs = Math.min(2 * this.#lookMs, LONGEST_LOOK_MS);
    const changed = credit === 0 ? consumer.pause() : consumer.resume(credit);
    changed.catch(() => undefined); // a lost session is told by itself
  }
}
