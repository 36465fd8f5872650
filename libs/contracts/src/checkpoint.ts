import { z } from "zod";
import { count } from "./bounds.ts";

/** The bound of a checkpoint as JSON in UTF-8. */
export const MAX_CHECKPOINT_BYTES = 65_536;

/** How far a run has got: JSON as text, which only its type reads, and its number among the checkpoints of its observer. */
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
