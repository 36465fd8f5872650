import { z } from "zod";

/**
 * Fields that were added to an answer later, by their schema: what it means if an older manager leaves them out; `of` names the field that
 * said the same before. A field that is not listed here was always sent: an answer without it is not one of a manager.
 */
export const ADDED_LATER = z.registry<{ means: unknown } | { of: string }>();
