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
  /** Resolves when what was handed on is confirmed or refused. */
  settled(): Promise<void>;
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
  const open = new Set<Promise<void>>();
  let wake = () => {};
  void untilAborted(signal).then(() => wake());

  const closed = () => {
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
      const handedOn = emit(event)
        .catch(() => {
          hasLost = true;
        })
        .then(() => {
          open.delete(handedOn);
          closed();
        });
      open.add(handedOn);
    },
    dropped: () => drops,
    hasLost: () => hasLost,
    async settled() {
      await Promise.all(open);
    },
  };
}
