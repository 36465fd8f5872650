/** Full lanes are as long as one another. With more lanes than this, a quarter of their places is left free. */
const FEW = 10;
const FULL = 0.75;

/**
 * Which lane each of `joiners` joins, by its place: a turn goes once through all lanes that are not full. Some lanes are long and others
 * short, by even steps, as far as `most` allows: lanes as long as one another end together, and then all workers wait for the books at once.
 * Where fewer come than are expected, the last turns are left out.
 * @param most may join one lane
 * @returns places of lanes, from 0 on
 */
export function turnsOf(lanes: number, joiners: number, most: number): number[] {
  const count = Math.floor(Math.min(joiners, lanes * most * (lanes > FEW ? FULL : 1)));
  if (count <= 0) return [];
  const mean = count / lanes;
  const longest = Math.min(most, 2 * mean);
  const upTo = (lane: number) => Math.round((2 * mean - longest) * lane + ((longest - mean) * lane * lane) / lanes);
  const lengths = Array.from({ length: lanes }, (_, lane) => Math.min(most, upTo(lane + 1) - upTo(lane)));
  const inTurn = (turn: number) => [...lengths.keys()].filter((lane) => (lengths[lane] as number) > turn);
  return Array.from({ length: Math.max(...lengths) }, (_, turn) => inTurn(turn)).flat();
}

/**
 * How many of `waiting` tasks may join one of so many lanes: as many as each would have if all began now. In a lane as long as it may be,
 * one worker would work off the last ones, while the others have nothing more to do.
 */
export const fairShareOf = (waiting: number, lanes: number): number => Math.ceil(waiting / lanes);
