import { z } from "zod";

/**
 * Fields of answers that came later than the answer itself, by their schema: what it means where an older manager does not say them; `of`, where it said
 * the same by another name. What stands not here was always said: an answer without it is none of a manager.
 */
export const ADDED_LATER = z.registry<{ means: unknown } | { of: string }>();
