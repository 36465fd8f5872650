import { z } from "zod";

const delayMs = z.int().min(0).max(86_400_000);

const BackoffDelays = z.strictObject({
  initialMs: delayMs.default(1_000).describe("delay before the second attempt, in ms"),
  factor: z.number().min(1).max(100).default(2),
  maxMs: delayMs.default(300_000),
  jitter: z.number().min(0).max(1).default(0.2).describe("share of the delay that is random: 0.2 means ±20 %"),
});

/**
 * What happens when a handler throws. The message stays unacked and the worker is kept while the run waits.
 * Attempts are counted per run; a run that stays well for `resetAfterMs` gets its attempts back.
 */
export const RetryPolicy = z.strictObject({
  maxAttempts: z
    .union([z.literal("unlimited"), z.int().min(1).max(1_000_000)])
    .default("unlimited")
    .describe("how often the handler is started before the observer is Failed"),
  delaysMs: z
    .union([BackoffDelays, z.array(delayMs).min(1).max(100)], {
      error: "must be a list of delays in ms, such as [1000, 5000], or {initialMs, factor, maxMs, jitter}",
    })
    .default({ initialMs: 1_000, factor: 2, maxMs: 300_000, jitter: 0.2 })
    .describe(
      "a list (its last entry repeats) or an exponential backoff; after 3 failures in a row at least 100 ms, after 10 a second",
    ),
  resetAfterMs: z.int().min(0).max(2_147_483_647).default(600_000),
});
export type RetryPolicy = z.infer<typeof RetryPolicy>;

/** Unlimited attempts, 1 s doubling to 5 min with jitter, attempts given back after 10 min. */
export const DEFAULT_RETRY: RetryPolicy = RetryPolicy.parse({});

/**
 * The shortest pause after repeated failures, whatever the policy says: otherwise one observer would make dozens of attempts a
 * second, and gigabytes of log. It also holds for a policy that resets the attempts at once, whose failures are never many.
 */
const floorMs = (failedAttempts: number, resetAfterMs: number): number => {
  if (failedAttempts > 10) return 1_000;
  return failedAttempts > 3 || resetAfterMs < 1_000 ? 100 : 0;
};

/**
 * The delay before the next attempt, after the third at least 100 ms and after the tenth a second, or `null` when the attempts are used up.
 * @param failedAttempts how many attempts have failed so far (≥ 1)
 * @param random a number in [0, 1), an argument so that the function stays pure
 */
export function nextRetryDelayMs(policy: RetryPolicy, failedAttempts: number, random: number): number | null {
  if (policy.maxAttempts !== "unlimited" && failedAttempts >= policy.maxAttempts) return null;
  return Math.max(floorMs(failedAttempts, policy.resetAfterMs), wantedDelayMs(policy.delaysMs, failedAttempts, random));
}

function wantedDelayMs(delays: RetryPolicy["delaysMs"], failedAttempts: number, random: number): number {
  if (Array.isArray(delays)) return delays[Math.min(failedAttempts, delays.length) - 1] ?? 0;
  // It stays finite, as zero times infinity is not a number.
  const grown = Math.min(delays.factor ** (failedAttempts - 1), Number.MAX_VALUE);
  const plain = Math.min(delays.maxMs, delays.initialMs * grown);
  const spread = plain * delays.jitter * (2 * random - 1);
  return Math.max(0, Math.round(plain + spread));
}
