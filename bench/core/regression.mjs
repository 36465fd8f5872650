import { figuresOf, ratioOf } from "./figures.mjs";

/** How much worse a ratio may become before somebody has to look. */
export const TOLERANCE = 0.25;

/** @typedef {Record<string, number>} Ratios by the id of the figure; see ratioOf */
/** @typedef {{ id: string, was: number, is: number }} Change */

/**
 * Ratios, not times: they hold on another machine, and on a busier one.
 *
 * @param {Pick<import("./figures.mjs").Results, "scenarios">} results
 * @returns {Ratios}
 */
export function ratiosOf(results) {
  /** @type {Ratios} */
  const ratios = {};
  for (const figure of figuresOf(results)) {
    const ratio = ratioOf(figure);
    if (ratio !== null && !figure.isLoose) ratios[figure.id] = Math.round(ratio * 1_000) / 1_000;
  }
  return ratios;
}

/**
 * @param {Ratios} baseline
 * @param {Ratios} current
 * @param {number} [tolerance]
 * @returns {{ worse: Change[], better: Change[], missing: string[], unknown: string[] }} `missing`: in the baseline, and not
 *   measured now; `unknown`: the other way round
 */
export function compareRatios(baseline, current, tolerance = TOLERANCE) {
  const both = Object.entries(baseline).flatMap(([id, was]) => {
    const is = current[id];
    return is === undefined ? [] : [{ id, was, is }];
  });
  return {
    worse: both.filter(({ was, is }) => is > was * (1 + tolerance)),
    better: both.filter(({ was, is }) => is < was / (1 + tolerance)),
    missing: Object.keys(baseline).filter((id) => current[id] === undefined),
    unknown: Object.keys(current).filter((id) => baseline[id] === undefined),
  };
}
