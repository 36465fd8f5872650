import { DEFAULT_RETRY, DEFAULT_TASK_ATTEMPTS, type ErrorText, type FailTask, nextRetryDelayMs } from "@unacked/contracts";

/** An attempt that failed, and in how many ms the next one is due; null: there is none. */
export interface FailedAttempt {
  error: ErrorText;
  retryInMs: number | null;
}

/**
 * What becomes of a task that failed outside, where no service is to decide by its type. Pure. @param random from 0 up to 1
 */
export function failedAttempt(
  { error, retryable, retryInMs }: Pick<FailTask, "error" | "retryable" | "retryInMs">,
  { failures, maxAttempts }: { failures: number; maxAttempts: number | null },
  random: number,
): FailedAttempt {
  const policy = { ...DEFAULT_RETRY, maxAttempts: maxAttempts ?? DEFAULT_TASK_ATTEMPTS };
  const delayMs = retryable ? nextRetryDelayMs(policy, failures + 1, random) : null;
  return { error, retryInMs: delayMs === null ? null : (retryInMs ?? delayMs) };
}
