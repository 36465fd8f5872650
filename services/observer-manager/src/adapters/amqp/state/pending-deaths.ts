import type { Delivery } from "@unacked/broker";
import { type DeathCertificate, generationKey } from "@unacked/contracts";
import type { Source } from "../../../domain/observers/current-run.ts";

/** Within that time the observers of a full service that died run elsewhere, where there is room for them. */
const WAIT_MS = 1_000;

/**
 * Death certificates that wait for their turn. When a full service dies, its observers begin elsewhere within a second, and each
 * start that is told ends, by the same write, what the books had of it on the dead one. Applied at once the certificate would
 * write each of them as being without a run first, and then once more. It stays unacked while it waits: a crash loses nothing.
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

  /** A certificate has come. @returns false when its time has come, too */
  defer(delivery: Delivery, death: DeathCertificate): boolean {
    const key = keyOf(death);
    const first = this.#waiting.get(key);
    if (first === delivery) return false;
    if (first !== undefined) {
      delivery.settle("ack"); // told twice
      return true;
    }
    const lost = this.#lost;
    this.#waiting.set(key, delivery);
    setTimeout(() => {
      if (!lost.aborted) this.#applyNow(delivery);
    }, WAIT_MS).unref();
    return true;
  }

  /** It stands in the books. */
  applied(death: DeathCertificate): void {
    this.#waiting.delete(keyOf(death));
  }

  /** Whether that connection of that service is known to be dead, and the books have yet to be told so. */
  readonly isPending = (source: Source): boolean => this.#waiting.has(keyOf(source));
}

const keyOf = ({ serviceId, generation }: Source): string => generationKey(serviceId, generation);
