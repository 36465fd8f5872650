import { z } from "zod";

/** Of a call that changes what somebody has read: so it overwrites nothing of others. */
export const ifMatch = z.object({
  "If-Match": z
    .string()
    .optional()
    .describe("the `ETag` that it was read with: 412 if it was changed since, and is not as asked for anyway"),
});
