/** What it is, for the log, and how it is done. */
export type Act = readonly [what: string, act: () => Promise<void>];

/**
 * Does one after the other, until it is stopped. One that fails holds up none behind it: `failed` is told of it.
 * @returns whether none failed
 */
export async function tryEach(
  acts: readonly Act[],
  { failed, isStopped }: { failed(error: unknown, what: string): void; isStopped(): boolean },
): Promise<boolean> {
  let haveAllPassed = true;
  for (const [what, act] of acts) {
    if (isStopped()) return false;
    try {
      await act();
    } catch (error) {
      haveAllPassed = false;
      failed(error, what);
    }
  }
  return haveAllPassed;
}
