const AGAIN_MS = 2_000;

/** Reads again and again until that has succeeded. What is wrong meanwhile the link tells. */
export async function untilDone(signal: AbortSignal, read: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    try {
      await read();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
