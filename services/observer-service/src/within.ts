import { setTimeout as sleep } from "node:timers/promises";

/**
 * Resolves when the work is done (or failed) or the time is up, whichever comes first. `true` means that it was done. Never
 * rejects.
 */
export async function within(limitMs: number, work: Promise<unknown> | undefined): Promise<boolean> {
  const timeUp = new AbortController();
  const done = Promise.resolve(work).then(
    () => true,
    () => false,
  );
  const late = sleep(limitMs, false, { signal: timeUp.signal }).catch(() => false);
  try {
    return await Promise.race([done, late]);
  } finally {
    timeUp.abort();
  }
}
