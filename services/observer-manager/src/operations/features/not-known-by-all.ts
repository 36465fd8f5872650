import type { Refusal } from "../refusal.ts";

/**
 * It is not known yet until the managers that have just started have heard of each other, and while one of an older version runs beside
 * them.
 *
 * @param what they have to do for it
 * @returns what goes on from "it is not known yet"
 */
export const thatAllManagers = (what: string): string =>
  `that all managers ${what}. This lasts for some seconds after the first of them has started, and as long as one of an older version runs`;

/** @param what all managers have to do for it */
export const notKnownByAll = (what: string): Refusal => ({
  kind: "problem",
  code: "not-ready",
  detail: `It is not known yet ${thatAllManagers(what)}`,
});
