import type { SendId } from "@unacked/contracts";

/** A proof of absence may pass them by for as long as it goes on after its marker was seen: some seconds. */
const KEPT_MS = 60_000;
/** An inventory takes some 65,000. */
const MAX_KEPT = 20_000;

/**
 * Sends that went back to the queue without a word that the books had to hear. On their way back they are behind what has passed meanwhile, and
 * in nobody's inventory: only this tells that they are there.
 */
export class LetGo {
  // A Map keeps the order of insertion, so the first entry is always the oldest.
  readonly #lastMs = new Map<SendId, number>();

  remember(sendId: SendId): void {
    this.#lastMs.delete(sendId);
    this.#lastMs.set(sendId, performance.now());
  }

  get lately(): SendId[] {
    const fromMs = performance.now() - KEPT_MS;
    for (const [sendId, lastMs] of this.#lastMs) {
      if (lastMs > fromMs && this.#lastMs.size <= MAX_KEPT) break;
      this.#lastMs.delete(sendId);
    }
    return [...this.#lastMs.keys()];
  }
}
