import { z } from "zod";

/**
 * Fields of answers that came later than the answer itself and may not be null, by their schema: what it means where an older manager does not
 * say them; `of`, where it said the same by another name. What may be null is read as null where it is not said, and needs no word here.
 */
export const ADDED_LATER = z.registry<{ means: unknown } | { of: string }>();
