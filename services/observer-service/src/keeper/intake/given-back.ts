import { decodeBody, ObserverId } from "@unacked/contracts";
import { z } from "zod";

/** Longer than a proof of absence may take. */
const KEPT_MS = 75 * 60_000;
/** One proof of life takes one message at most, so an hour cannot bring more. */
const MAX_KEPT = 20_000;

const OfObserver = z.object({ observerId: ObserverId });

/**
 * Whose messages a proof of life was given, as no other consumer had room, and gave back. They are in no inventory, and on
 * their way back they are behind what has passed meanwhile: only this tells that they are there.
 */
export class GivenBack {
  // A Map keeps the order of insertion, so the first entry is always the oldest.
  readonly #lastMs = new Map<ObserverId, number>();

  /** @param nowMs of a monotonic clock. */
  remember(body: Buffer, nowMs: number): void {
    const decoded = decodeBody(OfObserver, body);
    if (!decoded.ok) return; // nothing that is an observer's
    this.#lastMs.delete(decoded.value.observerId);
    this.#lastMs.set(decoded.value.observerId, nowMs);
    for (const [observerId, lastMs] of this.#lastMs) {
      if (lastMs > nowMs - KEPT_MS && this.#lastMs.size <= MAX_KEPT) return;
      this.#lastMs.delete(observerId);
    }
  }

  since(nowMs: number): { observerId: ObserverId; agoMs: number }[] {
    return [...this.#lastMs].map(([observerId, lastMs]) => ({ observerId, agoMs: Math.max(0, nowMs - lastMs) }));
  }
}
