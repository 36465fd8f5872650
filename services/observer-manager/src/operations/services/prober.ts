import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";

export interface SilenceStore {
  /**
   * Every service that has been silent for `probeAfterMs` gets a probe command; one that has been for `suspectAfterMs` becomes
   * Suspect.
   * @returns how many probes were asked for
   */
  probeSilent(limits: { probeAfterMs: number; suspectAfterMs: number }): Promise<number>;
}

const EVERY_MS = 3_000;
/** One ServiceAlive (every 5 s) is missing. A probe is cheap, and its answer is a fact. */
const PROBE_AFTER_MS = 7_000;
/** Three are missing. */
const SUSPECT_AFTER_MS = 15_000;

/**
 * Silence raises a suspicion only, and only while this manager has itself caught up with the state queue. A mandatory
 * publish to that generation's queue settles it: unroutable means dead, and the dispatcher certifies the death.
 */
export class Prober {
  readonly #store: SilenceStore;
  readonly #isCaughtUp: () => boolean;
  readonly #probed: () => void;
  readonly #log: Log;
  readonly #loop = new Loop({ round: () => this.#look(), failed: (error) => this.#failed(error) });

  constructor(parts: { store: SilenceStore; isCaughtUp: () => boolean; probed: () => void; log: Log }) {
    this.#store = parts.store;
    this.#isCaughtUp = parts.isCaughtUp;
    this.#probed = parts.probed;
    this.#log = parts.log;
  }

  start(): void {
    this.#loop.start(EVERY_MS);
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #look(): Promise<number> {
    if (!this.#isCaughtUp()) return EVERY_MS;
    const asked = await this.#store.probeSilent({ probeAfterMs: PROBE_AFTER_MS, suspectAfterMs: SUSPECT_AFTER_MS });
    if (asked > 0) this.#probed();
    return EVERY_MS;
  }

  #failed(error: unknown): number {
    this.#log.warn({ err: error }, "silent services could not be looked for");
    return EVERY_MS;
  }
}
