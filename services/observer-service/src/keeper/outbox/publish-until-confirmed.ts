import { setTimeout as sleep } from "node:timers/promises";
import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import { backoffMs } from "@unacked/contracts";
import { errorText } from "../../error-text.ts";
import type { Log } from "../../log.ts";

const PAUSES = { firstMs: 100, maxMs: 5_000 };
/**
 * The pauses after a refusal are short: a queue without a leader soon has one again, and a starting service waits for this.
 */
const REFUSED_PAUSES = { firstMs: 100, maxMs: 200 };

export type PublishTools = {
  readonly publisher: Pick<Publisher, "publish" | "writable" | "declareAgain">;
  readonly log: Log;
};

/**
 * Publishes the same message again and again until the broker has confirmed it (so its receiver must bear doubles). If it
 * comes back, its queue or binding is gone: those are declared again, with or without a manager. Rejects only with the
 * signal's reason.
 */
export async function publishUntilConfirmed(
  message: Outgoing,
  { publisher, log }: PublishTools,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    try {
      await publisher.writable(signal);
      signal.throwIfAborted();
      await publisher.publish(message);
      return;
    } catch (error) {
      signal.throwIfAborted();
      logRarely(log, failures, message, error);
      if (error instanceof PublishError && error.code === "returned") await publisher.declareAgain();
      const isRefused = error instanceof PublishError && error.code === "nacked";
      await sleep(backoffMs(isRefused ? REFUSED_PAUSES : PAUSES, failures), undefined, { signal });
    }
  }
}

/** Logs the 1st, 2nd, 4th, 8th … failure, so that a state queue that is missing for a day does not fill the disk. */
function logRarely(log: Log, failures: number, { exchange, type }: Outgoing, error: unknown): void {
  const count = failures + 1;
  if ((count & (count - 1)) !== 0) return;
  const { message } = errorText(error);
  log.warn(
    { event: "publish-failed", exchange, type, failures: count, error: message },
    "a message was not confirmed; it is sent again",
  );
}
