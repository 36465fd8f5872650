/**
 * The order of the sides of a comparison in this run: in as many runs as there are sides each has had each place. Who comes first finds cold
 * servers, and who comes last what the others left.
 *
 * @template T
 * @param {readonly T[]} sides
 * @param {number} run from 1
 * @returns {T[]}
 */
export function inTurn(sides, run) {
  const first = (run - 1) % sides.length;
  return [...sides.slice(first), ...sides.slice(0, first)];
}
