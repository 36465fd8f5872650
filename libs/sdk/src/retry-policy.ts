import { z } from "zod";
import { SdkError } from "./sdk-error.ts";

/** Delays between attempts: a list whose last entry repeats, or a growing row. All in milliseconds; `jitter` is a share (0.2: ± 20 %). */
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

// The limits are those of a retry policy in a request, so that what is accepted here is accepted by a service.
const delay = z.int().min(0).max(86_400_000);

const retryPolicySchema = z.strictObject({
  maxAttempts: z.union([z.int().min(1).max(1_000_000), z.literal("unlimited")]).optional(),
  delaysMs: z
    .union([
      z.array(delay).min(1).max(100),
      z.strictObject({
        initialMs: delay.optional(),
        factor: z.number().min(1).max(100).optional(),
        maxMs: delay.optional(),
        jitter: z.number().min(0).max(1).optional(),
      }),
    ])
    .optional(),
  resetAfterMs: z.int().min(0).max(2_147_483_647).optional(),
});

/** Throws {@link SdkError} `invalid-definition` naming what is wrong with a definition's `retry`. */
export function checkRetryPolicy(value: unknown): RetryPolicy {
  const result = retryPolicySchema.safeParse(value);
  if (result.success) return result.data;
  throw new SdkError("invalid-definition", `retry is not a retry policy: ${z.prettifyError(result.error)}`, {
    cause: result.error,
  });
}
