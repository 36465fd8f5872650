import { RefusedByDatabase } from "./books/books-store.ts";

export interface TogetherParts<In, Out> {
  /** Makes one transaction of them. Answers in the order given. */
  run(together: In[]): Promise<Out[]>;
  maxSize: number;
  /** Default: 1. */
  sizeOf?(one: In): number;
  /** Two with the same key do not share a transaction. Default: none. */
  keysOf?(one: In): readonly string[];
  /** Shares its transaction with nobody. Default: none. */
  isAlone?(one: In): boolean;
}

/** One with longer params counts for more of those that share a transaction: a thousand of 256 KiB were 256 MB in one statement. */
const CHARS_OF_ONE = 16_384;

/** How many of `maxSize` one with such params counts for: a thousand have 16 MiB at most. */
export const sizeOfParams = (params: unknown): number => Math.max(1, JSON.stringify(params).length / CHARS_OF_ONE);

interface Submission<In, Out> {
  one: In;
  resolve(out: Out): void;
  reject(error: unknown): void;
}

/**
 * What comes in: calls that write. Those that arrive while a transaction is under way share the next one, so that a thousand clients
 * wait neither for a thousand commits nor for each other's connections. Each is answered for itself: one that PostgreSQL refuses
 * costs the others nothing but another try. A crash before the commit leaves nothing of any of them.
 */
export class Together<In, Out> {
  readonly #parts: TogetherParts<In, Out>;
  #waiting: Submission<In, Out>[] = [];
  #isBusy = false;

  constructor(parts: TogetherParts<In, Out>) {
    this.#parts = parts;
  }

  do(one: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ one, resolve, reject });
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) await this.#answer(this.#take());
    this.#isBusy = false;
  }

  /** Takes one at least, in order. */
  #take(): Submission<In, Out>[] {
    const { maxSize, sizeOf = () => 1, keysOf = () => [], isAlone = () => false } = this.#parts;
    const keys = new Set<string>();
    let size = 0;
    let count = 0;
    for (const { one } of this.#waiting) {
      size += sizeOf(one);
      const own = keysOf(one);
      if (count > 0 && (size > maxSize || isAlone(one) || own.some((key) => keys.has(key)))) break;
      for (const key of own) keys.add(key);
      count += 1;
      if (isAlone(one)) break;
    }
    const together = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return together;
  }

  async #answer(together: Submission<In, Out>[]): Promise<void> {
    try {
      const outs = await this.#parts.run(together.map(({ one }) => one));
      for (const [i, { resolve }] of together.entries()) resolve(outs[i] as Out);
    } catch (error) {
      if (error instanceof RefusedByDatabase && together.length > 1) for (const one of together) await this.#answer([one]);
      else for (const { reject } of together) reject(error);
    }
  }
}
