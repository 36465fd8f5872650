import { z } from "zod";

/** A header for calls that change what the caller has read, so that they overwrite no change of others. */
export const ifMatch = z.object({
  "If-Match": z
    .string()
    .optional()
    .describe("the `ETag` that it was read with: 412 if it was changed since, and is not as asked for anyway"),
});
