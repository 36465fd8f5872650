import { z } from "zod";
import { SdkError } from "./sdk-error.ts";

/** Delays between attempts: a list whose last entry repeats, or a growing row. All in milliseconds; `jitter` is a share, 0–1. */
export type RetryDelays =
  | readonly number[]
  | {
      readonly initialMs?: number;
      readonly factor?: number;
      readonly maxMs?: number;
      readonly jitter?: number;
    };

/**
 * What a service does when a handler throws. What is left out is the system's default: unlimited attempts, 1 s doubling
 * to 5 min with jitter, attempts given back after 10 min without an error. An observer's own `retry` goes before this.
 */
export type RetryPolicy = {
  readonly maxAttempts?: number | "unlimited";
  readonly delaysMs?: RetryDelays;
  /** A run that stays well for this long gets its attempts back. */
  readonly resetAfterMs?: number;
};

const milliseconds = z.number().min(0).max(Number.MAX_SAFE_INTEGER);

const retryPolicySchema = z.strictObject({
  maxAttempts: z.union([z.int().min(1), z.literal("unlimited")]).optional(),
  delaysMs: z
    .union([
      z.array(milliseconds).min(1),
      z.strictObject({
        initialMs: milliseconds.optional(),
        factor: z.number().min(1).optional(),
        maxMs: milliseconds.optional(),
        jitter: z.number().min(0).max(1).optional(),
      }),
    ])
    .optional(),
  resetAfterMs: milliseconds.optional(),
});

/** Throws {@link SdkError} `invalid-definition` naming what is wrong with a definition's `retry`. */
export function checkRetryPolicy(value: unknown): RetryPolicy {
  const result = retryPolicySchema.safeParse(value);
  if (result.success) return result.data;
  throw new SdkError("invalid-definition", `retry is not a retry policy: ${z.prettifyError(result.error)}`, {
    cause: result.error,
  });
}
