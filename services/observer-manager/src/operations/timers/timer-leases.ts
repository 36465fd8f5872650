import { DeadOwners } from "../../domain/timers/dead-owners.ts";
import type { Log } from "../log.ts";
import { Loop, untilNext } from "../loop.ts";
import type { TimerFiringStore } from "./timer-store.ts";

const EVERY_MS = 2_000;
/** Looks are so far apart while somebody is looked at more closely. */
const CLOSER_MS = 500;
const FAILED_PAUSE_MS = 1_000;

export interface TimerLeasesParts {
  owner: string;
  store: Pick<TimerFiringStore, "renew" | "lapsed" | "takeOver">;
  /** Some are due. */
  wake(): void;
  log: Log;
}

/**
 * Keeps this manager's lease, and takes over what a dead one was firing: due at once, and marked as what may have been heard. A
 * crash leaves it to the next look, here or elsewhere.
 */
export class TimerLeases {
  readonly #parts: TimerLeasesParts;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  readonly #dead = new DeadOwners();

  constructor(parts: TimerLeasesParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #round(): Promise<number> {
    const { store, owner, wake, log } = this.#parts;
    await store.renew(owner);
    const lapsed = (await store.lapsed()).filter((one) => one.owner !== owner);
    const dead = this.#dead.look(lapsed, performance.now());
    if (dead.length > 0) {
      const timers = await store.takeOver(dead);
      if (timers > 0) {
        log.warn({ event: "timers-taken-over", owners: dead, timers }, "timers of a manager that is gone are fired again");
        wake();
      }
    }
    return lapsed.length > 0 ? CLOSER_MS : untilNext(EVERY_MS);
  }

  #failed(error: unknown): number {
    this.#dead.lookFailed();
    this.#parts.log.warn({ err: error }, "the lease for firing timers could not be renewed; trying again");
    return FAILED_PAUSE_MS;
  }
}
