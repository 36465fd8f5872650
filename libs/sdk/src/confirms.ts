import type { ObserverStopped } from "./observer-stopped.ts";

/** An emit or a save whose confirm has not come. */
type Pending = { readonly reject: (error: Error) => void; giveUp?: NodeJS.Timeout };

/**
 * Of what is left of its stop timeout: a handler that awaits what a blocked broker does not confirm, one thing after another, always has as much again
 * to settle in, before its slot is ended for it.
 */
const GIVE_UP_AFTER = 0.5;

/** The confirms that one run waits for, and what a stop makes of them. */
export class Confirms {
  /** Made when something is waited for: most runs of many thousand wait for nothing. */
  #pending: Set<Pending> | undefined;
  #stopped: ObserverStopped | undefined;
  /** By when the handler is to have settled; `performance.now()`. */
  #settledByMs = Number.POSITIVE_INFINITY;

  /** As `sent` settles, unless a stop settles it first. */
  inTime(sent: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = (): void => {
        clearTimeout(pending.giveUp);
        this.#pending?.delete(pending);
      };
      const rejectWith = (error: unknown): void => {
        over();
        reject(error);
      };
      const pending: Pending = { reject: rejectWith };
      this.#pending ??= new Set();
      this.#pending.add(pending);
      if (this.#stopped !== undefined) this.#limit(pending, this.#stopped);
      sent.then(() => {
        over();
        resolve();
      }, rejectWith);
    });
  }

  /** Each that waits, and each to come, is given up with this reason after half of what is left of these milliseconds. */
  limit(reason: ObserverStopped, stopTimeoutMs: number): void {
    this.#stopped = reason;
    this.#settledByMs = performance.now() + stopTimeoutMs;
    for (const pending of this.#pending ?? []) this.#limit(pending, reason);
  }

  /** Each that waits is rejected at once. */
  reject(reason: ObserverStopped): void {
    for (const { reject } of this.#pending ?? []) reject(reason);
  }

  #limit(pending: Pending, reason: ObserverStopped): void {
    const leftMs = Math.max(0, this.#settledByMs - performance.now());
    pending.giveUp = setTimeout(() => pending.reject(reason), GIVE_UP_AFTER * leftMs);
    pending.giveUp.unref();
  }
}
