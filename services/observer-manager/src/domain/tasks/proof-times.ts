import { LET_GO_KEPT_MS } from "@unacked/contracts";

/**
 * The times that a proof of absence relies on (docs/decisions/0032-task-absence.md). They are made of each other: where one of them did not hold, a task
 * would run twice.
 */

/** A message that has waited for its turn for longer than this is not published: its task is given back, and claimed anew. */
export const LONGEST_WAIT_MS = 1_500;
/** What the broker has not confirmed by then is given up. */
export const CONFIRM_TIMEOUT_MS = 10_000;
/** What was sent within this before a proof began is not judged by it: the message may be published behind the marker. */
export const NOT_JUDGED_MS = LONGEST_WAIT_MS + CONFIRM_TIMEOUT_MS + 500;
/** What was sent so long ago, and is not over, is in doubt, and the next proof judges it, though the clocks of two servers may differ. */
export const IN_DOUBT_AFTER_MS = NOT_JUDGED_MS + 3_000;
/** By then a manager has seen of all that is in doubt that it is. */
export const SEEN_IN_DOUBT_MS = IN_DOUBT_AFTER_MS + 10_000;
/** A proof begins again if somebody answers nothing for so long after its marker was seen: by then services forget what they gave back. */
export const ANSWERS_WITHIN_MS = LET_GO_KEPT_MS - 15_000;
/** A service that has ended, or was last heard of, so long ago holds nothing: a broker may keep for a minute what it held. */
export const MAY_HOLD_MS = 90_000;
