import { summaryOf } from "./statistics.mjs";

/** What each part of a side spent on one of many, run by run. */
export class CpuNotes {
  /** @type {Map<string, Record<string, number>[]>} */
  #sides = new Map();

  /** @param {string} side @param {Record<string, number>} parts in µs */
  take(side, parts) {
    this.#sides.set(side, [...(this.#sides.get(side) ?? []), parts]);
  }

  /** One for each side: the medians of its runs, and their sum. */
  get lines() {
    return [...this.#sides].map(([side, runs]) => {
      const medians = Object.keys(runs[0] ?? {}).map(
        (name) => /** @type {const} */ ([name, summaryOf(runs.map((run) => Number(run[name]))).median]),
      );
      const all = medians.reduce((sum, [, us]) => sum + us, 0);
      return `CPU of each, ${side}: ${medians.map(([name, us]) => `${name} ${us.toFixed(0)}`).join(", ")}, in all ${all.toFixed(0)} µs`;
    });
  }
}
