/** @typedef {{ median: number, min: number, max: number, runs: number }} Summary */

/**
 * What is said of several runs. The median, as one disturbed run must not move it.
 *
 * @param {readonly number[]} values at least one
 * @returns {Summary}
 */
export function summaryOf(values) {
  if (values.length === 0) throw new Error("There is no summary of no runs.");
  return { median: percentileOf(values, 50), min: Math.min(...values), max: Math.max(...values), runs: values.length };
}

/**
 * By linear interpolation between the two closest ranks, so that the 50th is the median.
 *
 * @param {readonly number[]} values at least one
 * @param {number} percent 0 to 100
 */
export function percentileOf(values, percent) {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = ((sorted.length - 1) * percent) / 100;
  const [below, above] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  if (below === undefined || above === undefined)
    throw new Error(`There is no percentile ${percent} of ${sorted.length} values.`);
  return below + (above - below) * (rank - Math.floor(rank));
}
