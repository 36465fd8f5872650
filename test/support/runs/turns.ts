/**
 * Of cases that are alike (the steps at which a process dies, the orders in which servers come back, the looks of a page), and of long tests
 * whose promise others show in short, `npm test -- --all` runs each third, as an hour is not enough for all: which one goes by the commit
 * (scripts/test.mjs), so that a commit's run can be repeated, and the next commits run the others. Whoever names files, and `npm run prove`, runs them all.
 */
const THIRDS = 3;

const { TESTS_TURN } = process.env;
const turn = TESTS_TURN === undefined ? undefined : Number(TESTS_TURN);
// Else no case at all would run, and nobody would know.
if (turn !== undefined && ![0, 1, 2].includes(turn)) throw new Error(`TESTS_TURN is ${TESTS_TURN}: it must be 0, 1 or 2`);

/** Whether several commits show it all together: what is done again and again may be done less often. */
export const isInTurns = turn !== undefined;

/** Those whose turn it is: at least one. For `test.each`. */
export function inTurn<Case>(cases: readonly Case[]): Case[] {
  if (turn === undefined) return [...cases];
  const parts = Math.min(THIRDS, cases.length);
  return cases.filter((_, place) => place % parts === turn % parts);
}

/** Whether it is the turn of a case at this place among others like it. For `test.runIf`. */
export const isTurnOf = (place: number): boolean => turn === undefined || place % THIRDS === turn;
