import type { Delivery } from "@unacked/broker";
import { type DeathCertificate, generationKey } from "@unacked/contracts";
import type { Source } from "../../../domain/observers/current-run.ts";

/** Within this time the observers of a full service that died run elsewhere, if there is room for them. */
const WAIT_MS = 1_000;

/**
 * Death certificates that wait for their turn. When a full service dies, its observers begin elsewhere within a second, and each
 * such start ends, by the same write, the run on the dead one. Applied at once, the certificate would first write each of them
 * as being without a run, and then once more. It stays unacked while it waits, so a crash loses nothing.
 */
export class PendingDeaths {
  readonly #applyNow: (delivery: Delivery) => void;
  readonly #waiting = new Map<string, Delivery>();
  #lost: AbortSignal = AbortSignal.abort();

  /** @param applyNow is given each again when its time has come */
  constructor(applyNow: (delivery: Delivery) => void) {
    this.#applyNow = applyNow;
  }

  /** Begins with a new session; what waited comes again. */
  begin(lost: AbortSignal): void {
    this.#lost = lost;
    this.#waiting.clear();
  }

  /** A certificate has come. @returns false if its time has already come */
  defer(delivery: Delivery, death: DeathCertificate): boolean {
    const key = keyOf(death);
    const first = this.#waiting.get(key);
    if (first === delivery) return false;
    if (first !== undefined) {
      delivery.settle("ack"); // the certificate came twice
      return true;
    }
    const lost = this.#lost;
    this.#waiting.set(key, delivery);
    setTimeout(() => {
      if (!lost.aborted) this.#applyNow(delivery);
    }, WAIT_MS).unref();
    return true;
  }

  /** The death has been stored. */
  applied(death: DeathCertificate): void {
    this.#waiting.delete(keyOf(death));
  }

  /** Whether that connection of that service is known to be dead, but its death is not stored yet. */
  readonly isPending = (source: Source): boolean => this.#waiting.has(keyOf(source));
}

const keyOf = ({ serviceId, generation }: Source): string => generationKey(serviceId, generation);
