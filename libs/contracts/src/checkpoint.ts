import { z } from "zod";
import { count } from "./bounds.ts";

/** As JSON, in UTF-8. */
export const MAX_CHECKPOINT_BYTES = 65_536;

/** Where a run has got to: JSON as text, which nobody but its type reads, and the how manieth of its observer it is. */
export const Checkpoint = z.object({
  number: count(1),
  // JSON writes it as \u0000; PostgreSQL has no text with the character itself.
  value: z
    .string()
    .min(1)
    .max(MAX_CHECKPOINT_BYTES)
    .refine((text) => !text.includes("\0"), "the character NUL is not allowed"),
});
export type Checkpoint = z.infer<typeof Checkpoint>;
