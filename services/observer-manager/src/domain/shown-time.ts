/** The first and the last time that ISO 8601 writes with a year of four digits, as all answers have them. */
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const LAST_MS = Date.UTC(10_000, 0, 1) - 1;

/**
 * A time of the books as it is answered: ISO 8601, UTC. What is before the year 1 or after 9999 is shown as the first or the last time
 * there is: nothing like that comes in any more, but one such row of older managers must not take whole lists away from everybody.
 */
export function shownTime(time: Date | number): string {
  const ms = Number(time);
  // PostgreSQL's times go further than a Date's: such a one comes as NaN.
  return new Date(Number.isNaN(ms) ? LAST_MS : Math.min(Math.max(ms, FIRST_MS), LAST_MS)).toISOString();
}

export const shownTimeOrNull = (time: Date | null): string | null => (time === null ? null : shownTime(time));
