import type { Publisher } from "@unacked/broker";

const ALWAYS = new AbortController().signal;

/** Tells waiting senders when a publisher cannot be written to, as the broker blocks it, perhaps for hours, or is away. */
export class WhileWritable {
  readonly #publisher: Pick<Publisher, "heldUp">;
  readonly #heldUp: () => void;
  #signal: AbortSignal | undefined;

  /** @param heldUp told after the signal, if somebody has asked for that since the last time */
  constructor(publisher: Pick<Publisher, "heldUp">, heldUp: () => void = () => undefined) {
    this.#publisher = publisher;
    this.#heldUp = heldUp;
  }

  /** Aborts soon if it cannot be written to now. */
  get signal(): AbortSignal {
    this.#signal ??= this.#watch();
    return this.#signal;
  }

  #watch(): AbortSignal {
    const end = new AbortController();
    void this.#publisher.heldUp(ALWAYS).then(() => {
      this.#signal = undefined;
      end.abort();
      this.#heldUp();
    });
    return end.signal;
  }
}
