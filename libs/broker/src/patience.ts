export interface Patience {
  /** Infinity means no limit. */
  limitMs: number;
  /** Makes the error when the time is up. It may also act, for instance end the session. */
  onLimit: () => Error;
  signal: AbortSignal;
  onAbort: () => Error;
}

/**
 * Settles as the promise does, but rejects when the time is up or the signal is aborted, so that a promise which never
 * settles holds nobody. What it does afterwards is ignored, a rejection included.
 */
export function withPatience<T>(promise: Promise<T>, { limitMs, onLimit, signal, onAbort }: Patience): Promise<T> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(limit);
      signal.removeEventListener("abort", abort);
    };
    const abort = () => {
      finish();
      reject(onAbort());
    };
    const limitReached = () => {
      finish();
      reject(onLimit());
    };
    const limit = Number.isFinite(limitMs) ? setTimeout(limitReached, limitMs) : undefined;
    signal.addEventListener("abort", abort, { once: true });
    promise.then(
      (value) => {
        finish();
        resolve(value);
      },
      (error: unknown) => {
        finish();
        reject(error);
      },
    );
    if (signal.aborted) abort();
  });
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
