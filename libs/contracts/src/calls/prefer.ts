import { z } from "zod";

/** A header for calls that can answer only with receipts (`minimal`). https://www.rfc-editor.org/rfc/rfc7240 */
export const prefer = z.object({
  Prefer: z
    .string()
    .optional()
    .describe(
      "`return=minimal`: of each that was accepted only what the client cannot know, and `Preference-Applied` says so; a tenth of the bytes",
    ),
});
