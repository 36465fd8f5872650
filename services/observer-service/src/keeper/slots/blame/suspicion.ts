/** Observers whose slot died for a reason that named nobody, and what has been found out since. Pure: time is an argument. */

/** Suspects that are kept together until their slot dies, or suspicion lapses. */
export interface SuspectGroup {
  readonly id: number;
  readonly members: readonly string[];
  /** How often the group may still be split. */
  readonly roundsLeft: number;
  /** Since when deaths have not counted as rounds, as two groups had to share a slot. Undefined if the last one counted. */
  readonly sharedSinceMs?: number | undefined;
}

export type Verdict =
  /** It was alone in a slot that died. */
  | { kind: "guilty"; observer: string }
  | { kind: "split"; groups: readonly [SuspectGroup, SuspectGroup] }
  /** After so many rounds nobody was alone at a death, so each takes its place among the others again. */
  | { kind: "given-up"; observers: readonly string[] };

let lastGroup = 0;

/**
 * The longest time without rounds: calm suspects leave their slot to others long before that (room.ts). If they do not, there is no
 * place to be had, and the search has to end all the same.
 */
const SHARED_IS_NO_ROUND_MS = 120_000;

/** The result for suspects that have died in one slot: those of one group, or of several that had to share it. */
export function searchOf(
  groups: readonly SuspectGroup[],
  nowMs: number,
): Pick<SuspectGroup, "roundsLeft" | "sharedSinceMs"> {
  const roundsLeft = Math.max(...groups.map((group) => group.roundsLeft));
  if (groups.length === 1) return { roundsLeft };
  const sharedSinceMs = Math.min(...groups.map((group) => group.sharedSinceMs ?? nowMs));
  const isRound = nowMs - sharedSinceMs > SHARED_IS_NO_ROUND_MS;
  return { roundsLeft: roundsLeft + (isRound ? 0 : 1), sharedSinceMs };
}

/** How many deaths an observer that is kept by itself may be near before it is left alone. */
const ROUNDS_BY_ITSELF = 3;

/** A group for one observer: no guilt of it is known, and if it ends a slot, nobody else will be there. */
export const groupOfOne = (observer: string): SuspectGroup => ({
  id: (lastGroup += 1),
  members: [observer],
  roundsLeft: ROUNDS_BY_ITSELF,
});

/**
 * A slot has died with these observers in it, and nobody is named. Halving finds one culprit among n in log2 n rounds; three
 * more are for deaths that did not come every time.
 *
 * @param roundsLeft of the group that they were; undefined for a slot of observers that nobody suspected
 */
export function judge(observers: readonly string[], roundsLeft: number | undefined, sharedSinceMs?: number): Verdict {
  const [first] = observers;
  if (observers.length === 1 && first !== undefined) return { kind: "guilty", observer: first };
  const left = roundsLeft ?? Math.ceil(Math.log2(Math.max(2, observers.length))) + 3;
  if (left === 0) return { kind: "given-up", observers };
  const middle = Math.ceil(observers.length / 2);
  const group = (members: readonly string[]): SuspectGroup => ({
    id: (lastGroup += 1),
    members,
    roundsLeft: left - 1,
    sharedSinceMs,
  });
  return { kind: "split", groups: [group(observers.slice(0, middle)), group(observers.slice(middle))] };
}
