/** @typedef {import("./figures.mjs").Figure} Figure */
/** @typedef {Pick<Figure, "title" | "unit" | "better" | "isLoose">} FigureAbout */

/**
 * Collects what the runs of one scenario gave, figure by figure, in the order in which the figures were announced.
 *
 * @template {string} Key
 */
export class Tally {
  /** @type {Map<Key, Figure>} */
  #figures;

  /**
   * @param {string} scenario
   * @param {Record<Key, FigureAbout>} about
   */
  constructor(scenario, about) {
    const entries = /** @type {[Key, FigureAbout][]} */ (Object.entries(about));
    this.#figures = new Map(entries.map(([key, one]) => [key, { id: `${scenario}.${key}`, ...one, ours: [] }]));
  }

  /** @param {Partial<Record<Key, number>>} values */
  ours(values) {
    for (const [figure, value] of this.#each(values)) figure.ours.push(value);
  }

  /** @param {Partial<Record<Key, number>>} values */
  raw(values) {
    for (const [figure, value] of this.#each(values)) (figure.raw ??= []).push(value);
  }

  /**
   * @param {Pick<import("./figures.mjs").PeerValues, "peer" | "setting" | "note">} who
   * @param {Partial<Record<Key, number>>} values
   */
  peer(who, values) {
    for (const [figure, value] of this.#each(values)) this.#peer(figure, who).values.push(value);
  }

  /**
   * It was waited for so long in vain.
   *
   * @param {Pick<import("./figures.mjs").PeerValues, "peer" | "setting" | "note">} who
   * @param {Partial<Record<Key, number>>} values
   */
  peerInVain(who, values) {
    for (const [figure, value] of this.#each(values)) this.#peer(figure, who).over = value;
  }

  /** Those for which there is something. @returns {Figure[]} */
  get figures() {
    return [...this.#figures.values()].filter(({ ours }) => ours.length > 0);
  }

  /**
   * @param {Figure} figure
   * @param {Pick<import("./figures.mjs").PeerValues, "peer" | "setting" | "note">} who
   */
  #peer(figure, who) {
    figure.peers ??= [];
    const known = figure.peers.find(({ peer, setting }) => peer === who.peer && setting === who.setting);
    if (known !== undefined) return known;
    /** @type {import("./figures.mjs").PeerValues} */
    const fresh = { ...who, values: [] };
    figure.peers.push(fresh);
    return fresh;
  }

  /**
   * @param {Partial<Record<Key, number>>} values
   * @returns {[Figure, number][]}
   */
  #each(values) {
    const entries = /** @type {[Key, number][]} */ (Object.entries(values));
    return entries.map(([key, value]) => {
      const figure = this.#figures.get(key);
      if (figure === undefined) throw new Error(`There is no figure ${key}.`);
      return [figure, value];
    });
  }
}

/** @param {string} title @returns {FigureAbout} */
export const milliseconds = (title) => ({ title, unit: "ms", better: "less" });

/** @param {string} title @returns {FigureAbout} */
export const perSecond = (title) => ({ title, unit: "/s", better: "more" });
