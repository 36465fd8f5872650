/*
 * No schemas here: slots load only such files of this package, as to make the schemas takes longer than all else that a slot does until
 * it loads its folder (test/unit/bundles.test.ts).
 */

/** How much of a stack is kept, in characters. */
export const MAX_STACK = 8_192;

/** How long the reason of an update's outcome may be, in characters. */
export const MAX_UPDATE_REASON = 1_000;
