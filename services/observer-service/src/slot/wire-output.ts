import type { FromSlot } from "../wire/messages.ts";
import { MAX_EVENT_BYTES, OutputOverflowError, OutputTooLargeError } from "../wire/output-errors.ts";

/** Emits that may be on their way at once; more wait here, in the process that makes them. */
const CREDIT = 1_000;
const MAX_WAITING = 10_000;

interface Waiting {
  readonly attempt: number;
  readonly emit: number;
  readonly json: string;
  resolve(): void;
  reject(error: Error): void;
}

/** The emits of all handlers of a slot: to the keeper, which publishes them and answers each. */
export class WireOutput {
  readonly #send: (message: FromSlot) => void;
  readonly #underWay = new Map<number, Waiting>();
  readonly #queue: Waiting[] = [];
  #lastEmit = 0;

  constructor(send: (message: FromSlot) => void) {
    this.#send = send;
  }

  emit(attempt: number, json: string): Promise<void> {
    if (this.#underWay.size + this.#queue.length >= MAX_WAITING) return Promise.reject(new OutputOverflowError(MAX_WAITING));
    const bytes = Buffer.byteLength(json);
    if (bytes > MAX_EVENT_BYTES) return Promise.reject(new OutputTooLargeError(bytes));
    return new Promise((resolve, reject) => {
      this.#lastEmit += 1;
      this.#queue.push({ attempt, emit: this.#lastEmit, json, resolve, reject });
      this.#pump();
    });
  }

  answered(emit: number, error: { name: string; message: string; code?: string } | undefined): void {
    const waiting = this.#underWay.get(emit);
    this.#underWay.delete(emit);
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(Object.assign(new Error(error.message), error));
    this.#pump();
  }

  #pump(): void {
    while (this.#underWay.size < CREDIT) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#underWay.set(next.emit, next);
      this.#send({ kind: "emit", attempt: next.attempt, emit: next.emit, json: next.json });
    }
  }
}
