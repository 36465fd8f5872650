import { MAX_EVENT_BYTES, OutputTooLargeError, SdkError } from "@unacked/sdk";
import { OutputOverflowError } from "@unacked/sdk/host";
import type { FromSlot } from "../wire/messages.ts";

/** The most emits on their way at once; further ones wait here, in the process that makes them. */
const CREDIT = 1_000;
/** The same bound in bytes: while the broker takes nothing they are in the keeper's memory, which all slots share. */
const CREDIT_BYTES = 16_777_216;
/** The bound for all attempts of a slot; one alone has 10,000 of it. */
const ROOM = 15_000;
/**
 * An attempt may hold so many times what is free: an attempt that emits without awaiting fails by itself, as in wire-log.ts, and others
 * still find some.
 */
const TIMES_THE_FREE = 2;
/**
 * An attempt may always have this many, so that one that awaits each is never refused, even if there are more attempts than
 * there is room.
 */
const ALWAYS = 10;

interface Waiting {
  readonly attempt: number;
  readonly emit: number;
  readonly json: string;
  readonly bytes: number;
  resolve(): void;
  reject(error: Error): void;
}

/** Sends the emits of all handlers of a slot to the keeper, which publishes them and answers each. */
export class WireOutput {
  readonly #send: (message: FromSlot) => void;
  readonly #underWay = new Map<number, Waiting>();
  /** The waiting emits by attempt, in the order of turns. A run that emits much does not hold up the others. */
  readonly #queues = new Map<number, Waiting[]>();
  /** By attempt: how many of its emits are not answered. */
  readonly #held = new Map<number, number>();
  #free = ROOM;
  #bytesUnderWay = 0;
  #lastEmit = 0;

  constructor(send: (message: FromSlot) => void) {
    this.#send = send;
  }

  emit(attempt: number, json: string): Promise<void> {
    const held = this.#held.get(attempt) ?? 0;
    if (held >= Math.max(ALWAYS, TIMES_THE_FREE * this.#free)) return Promise.reject(new OutputOverflowError(held));
    const bytes = Buffer.byteLength(json);
    if (bytes > MAX_EVENT_BYTES) return Promise.reject(new OutputTooLargeError(bytes));
    return new Promise((resolve, reject) => {
      this.#lastEmit += 1;
      const waiting = { attempt, emit: this.#lastEmit, json, bytes, resolve, reject };
      const others = this.#queues.get(attempt);
      if (others === undefined) this.#queues.set(attempt, [waiting]);
      else others.push(waiting);
      this.#hold(attempt, 1);
      this.#pump();
    });
  }

  answered(emit: number, error: { name: string; message: string; code?: string } | undefined): void {
    const waiting = this.#underWay.get(emit);
    if (waiting === undefined) return;
    this.#underWay.delete(emit);
    this.#bytesUnderWay -= waiting.bytes;
    this.#hold(waiting.attempt, -1);
    if (error === undefined) waiting.resolve();
    else waiting.reject(Object.assign(new Error(error.message), error));
    this.#pump();
  }

  /** Its run is over, so emits that are not on their way are not sent. @returns how many these are */
  settled(attempt: number): number {
    const dropped = this.#queues.get(attempt) ?? [];
    this.#queues.delete(attempt);
    this.#hold(attempt, -dropped.length);
    for (const { reject } of dropped)
      reject(new SdkError("emit-after-end", "the run had ended before this event was sent: await emit"));
    return dropped.length;
  }

  #hold(attempt: number, count: number): void {
    this.#free -= count;
    const held = (this.#held.get(attempt) ?? 0) + count;
    if (held === 0) this.#held.delete(attempt);
    else this.#held.set(attempt, held);
  }

  get #hasCredit(): boolean {
    return this.#underWay.size < CREDIT && this.#bytesUnderWay < CREDIT_BYTES;
  }

  #pump(): void {
    for (const [attempt, queue] of this.#queues) {
      const next = this.#hasCredit ? queue.shift() : undefined;
      if (next === undefined) return;
      this.#queues.delete(attempt);
      if (queue.length > 0) this.#queues.set(attempt, queue); // it goes behind the others, which this loop reaches first
      this.#underWay.set(next.emit, next);
      this.#bytesUnderWay += next.bytes;
      this.#send({ kind: "emit", attempt, emit: next.emit, json: next.json });
    }
  }
}
