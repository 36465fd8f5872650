import { setTimeout as sleep } from "node:timers/promises";
import type { AskQueues } from "./pool-queues.ts";

/**
 * One queue that does not answer is given up after 5 s (pool-queue.ts): what the others say is still of use. A scrape waits for 8 s
 * (manager-metrics.ts).
 */
const WITHIN_MS = 6_000;

/**
 * A broker that stands still is known for one only after three of its heartbeats. Whoever looks at the books meanwhile is told that it cannot be
 * asked, and is not kept waiting.
 */
export const askInTime =
  (ask: AskQueues, withinMs = WITHIN_MS): AskQueues =>
  async (pools) => {
    const answered = new AbortController();
    try {
      return await Promise.race([ask(pools), sleep(withinMs, null, { signal: answered.signal })]);
    } finally {
      answered.abort();
    }
  };
