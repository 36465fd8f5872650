import { decodeBody, ObserverId } from "@unacked/contracts";
import { z } from "zod";
import { Lately } from "../lately.ts";

/** Longer than a proof of absence may take. */
const KEPT_MS = 75 * 60_000;
/** A proof of life takes one message at most. A drain may give back more, but with it every proof begins again. */
const MAX_KEPT = 20_000;

const OfObserver = z.object({ observerId: ObserverId });

/**
 * The observers whose messages were given back: by a proof of life, which got them as no other consumer had room, or at the end of a run.
 * No inventory holds them, and on their way back they are behind what has passed meanwhile, so only this tells that they exist.
 */
export class GivenBack {
  readonly #observers = new Lately<ObserverId>({ keptMs: KEPT_MS, most: MAX_KEPT });

  /** @param nowMs of a monotonic clock. */
  remember(body: Buffer, nowMs: number): void {
    const decoded = decodeBody(OfObserver, body);
    if (decoded.ok) this.note(decoded.value.observerId, nowMs); // otherwise it is no observer's message
  }

  note(observerId: ObserverId, nowMs: number): void {
    this.#observers.note(observerId, nowMs);
  }

  since(nowMs: number): { observerId: ObserverId; agoMs: number }[] {
    return this.#observers.since(nowMs).map(([observerId, agoMs]) => ({ observerId, agoMs }));
  }
}
