import { RawBroker, startBodies } from "./raw-broker.mjs";

/** One consumer holds so many messages; it is ended, and the next has them. */
export class RawFailOver {
  #rig;
  #raw;
  #count;
  #holder;

  /**
   * @param {import("../rig/rig.mjs").Rig} rig
   * @param {RawBroker} raw
   * @param {number} count
   * @param {import("../rig/programs.mjs").Program} holder
   */
  constructor(rig, raw, count, holder) {
    this.#rig = rig;
    this.#raw = raw;
    this.#count = count;
    this.#holder = holder;
  }

  /** @param {import("../rig/rig.mjs").Rig} rig @param {number} count */
  static async open(rig, count) {
    const raw = await RawBroker.open(rig);
    const holder = await raw.startConsumer("raw-consumer-0", count);
    const delivered = rig.meter.watch();
    await raw.publish(startBodies(count));
    await delivered.untilStarted(count);
    delivered.end();
    return new RawFailOver(rig, raw, count, holder);
  }

  /**
   * @template Times
   * @param {string} name of who takes over
   * @param {(rig: import("../rig/rig.mjs").Rig, holder: import("../rig/programs.mjs").Program, heir: import("../rig/programs.mjs").Program,
   *   count: number) => Promise<Times>} end how who holds them is ended, and the heir watched
   * @param {{ isWarm?: boolean }} [heir] it has taken as many before
   */
  async next(name, end, { isWarm = false } = {}) {
    const heir = await this.#raw.startConsumer(name, this.#count, isWarm ? this.#count : 0);
    const times = await end(this.#rig, this.#holder, heir, this.#count);
    this.#holder = heir;
    return times;
  }

  /** With who holds them, so that nothing of it costs what is measured next. */
  async close() {
    await this.#holder.end();
    await this.#raw.close();
  }
}
