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
 * Bounds what a consumer takes that follows another: the broker counts only what that one was given, while tasks of its predecessors still
 * have workers. So it gets the remaining credit, and more as those tasks end. With the credit of all workers each task would first go to a
 * service without a free worker, wait there for a second and go back, for as long as the old ones ran: that may be hours.
 *
 * Each change makes another consumer of which the same holds. So the pause between looks doubles after each: if tasks come and go, all of
 * them soon end between two looks, and then the broker's count is right.
 */
export class TaskCredit {
  readonly #parts: TaskCreditParts;
  #timer: NodeJS.Timeout | undefined;
  #consumer: Pick<Consumer, "pause" | "resume"> | undefined;
  /** The messages that earlier consumers were given. */
  #before: ReadonlySet<TaskMessage> = new Set();
  #given = 0;
  #lookMs = FIRST_LOOK_MS;

  constructor(parts: TaskCreditParts) {
    this.#parts = parts;
  }

  /** Begins with a paused consumer. */
  begin(consumer: Pick<Consumer, "pause" | "resume">): void {
    this.end();
    this.#before = this.#parts.held();
    this.#given = 0;
    this.#lookMs = FIRST_LOOK_MS;
    this.#consumer = consumer;
    this.#look(consumer);
  }

  /** The number of workers may have changed. */
  look(): void {
    clearTimeout(this.#timer);
    if (this.#consumer !== undefined) this.#look(this.#consumer);
  }

  /** The consumer is to take nothing more, or is gone. */
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
    changed.catch(() => undefined); // the loss of the session is reported elsewhere
  }
}
