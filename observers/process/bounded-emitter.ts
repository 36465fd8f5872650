import { untilAborted } from "@unacked/sdk";

export type BoundedEmitter = {
  /**
   * Hands the event on as soon as fewer than the limit wait for their confirm; one `send` at a time. After the abort it
   * no longer waits: with no place free the event is dropped.
   */
  send(event: unknown): Promise<void>;
  /** How many events were dropped. */
  dropped(): number;
  /** Whether one was handed on, and nobody was told. */
  hasLost(): boolean;
};

/**
 * Keeps at most `maxInFlight` events unconfirmed, so that a command that writes faster than the broker confirms is slowed
 * down (by its full pipe) and does not fill the service's memory. What `emit` rejects with has been logged by it already.
 */
export function createBoundedEmitter(
  emit: (event: unknown) => Promise<void>,
  maxInFlight: number,
  signal: AbortSignal,
): BoundedEmitter {
  let inFlight = 0;
  let drops = 0;
  let hasLost = false;
  let wake = () => {};
  void untilAborted(signal).then(() => wake());

  const settled = () => {
    inFlight--;
    wake();
  };
  const placeFree = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });

  return {
    async send(event) {
      while (inFlight >= maxInFlight && !signal.aborted) await placeFree();
      if (inFlight >= maxInFlight) {
        drops++;
        return;
      }
      inFlight++;
      void emit(event).then(settled, () => {
        hasLost = true;
        settled();
      });
    },
    dropped: () => drops,
    hasLost: () => hasLost,
  };
}
