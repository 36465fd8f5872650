import { summaryOf } from "./statistics.mjs";

/**
 * One thing that was measured: by Unacked, by the raw broker doing the same in the same run, and by the peers.
 *
 * @typedef {object} Figure
 * @property {string} id `<scenario>.<figure>`
 * @property {string} title
 * @property {string} unit "ms", "/s", "KB", "%" …
 * @property {"less" | "more"} better
 * @property {number[]} ours one value a run
 * @property {number[]} [raw] amqplib alone
 * @property {PeerValues[]} [peers]
 * @property {boolean} [isLoose] too small or too coarse to be guarded by its ratio
 */

/**
 * @typedef {object} PeerValues
 * @property {string} peer
 * @property {string} setting
 * @property {number[]} values
 * @property {number} [over] it was waited for this long in vain, in the figure's unit
 * @property {string} [note]
 */

/** @typedef {{ id: string, number: number, title: string, figures: Figure[], notes: string[], beside?: string }} ScenarioResult */
/** @typedef {Record<string, string | number>} Machine */
/** @typedef {{ at: string, machine: Machine, options: { runs: number, quick: boolean }, scenarios: ScenarioResult[] }} Results */

/**
 * How many times as much as the raw broker it costs: 2 is twice as long, or half as many a second.
 *
 * @param {Figure} figure
 * @returns {number | null} null where there is nothing to compare with
 */
export function ratioOf({ ours, raw, better }) {
  return raw === undefined ? null : costRatio(ours, raw, better);
}

/**
 * @param {readonly number[]} ours
 * @param {readonly number[]} theirs
 * @param {Figure["better"]} better
 * @returns {number | null}
 */
export function costRatio(ours, theirs, better) {
  if (ours.length === 0 || theirs.length === 0) return null;
  const [own, other] = [summaryOf(ours).median, summaryOf(theirs).median];
  const ratio = better === "less" ? own / other : other / own;
  return Number.isFinite(ratio) ? ratio : null;
}

/** @param {Pick<Results, "scenarios">} results */
export const figuresOf = ({ scenarios }) => scenarios.flatMap(({ figures }) => figures);

/**
 * @param {Pick<Results, "scenarios">} results
 * @param {string} id
 */
export const findFigure = (results, id) => figuresOf(results).find((figure) => figure.id === id);

/**
 * @param {Figure | undefined} figure
 * @param {string} peer its name; the version is not looked at
 * @param {string} setting
 */
export const findPeer = (figure, peer, setting) =>
  figure?.peers?.find((one) => one.peer.split(" ")[0] === peer && one.setting === setting);
