/**
 * Fewer than the unconfirmed messages for one queue at which RabbitMQ stops to read: so it reads on, whatever queues these
 * are for.
 */
const PLACES = 16;
/**
 * How long a name that held its place until its time was up leaves it to others: twice as long as all such names would need.
 */
const REST = { ofTook: 2, maxMs: 300_000 };
/**
 * While a name stands back, a timer of it is due at least this often. A name without one has been cancelled, or fired by another manager.
 */
const WANTED_MS = 60_000;
/** Beyond this number the oldest names are forgotten, and go with all others. */
const MAX_NAMES = 10_000;

interface Way {
  /** Whether a timer of it was taken aside, but none yet with all others. */
  isBack: boolean;
  restsUntilMs: number;
  /** When a timer of it was last to be sent. */
  wantedAtMs: number;
}

/** Names of timers that were not taken, and the places that they share: one for each name, and few in all. */
export class NamesAside {
  readonly #ways = new Map<string, Way>();
  /** Names with a timer on its way. */
  readonly #trying = new Set<string>();

  has(name: string): boolean {
    return this.#ways.get(name)?.isBack === false;
  }

  isBack(name: string): boolean {
    return this.#ways.get(name)?.isBack === true;
  }

  add(name: string): void {
    const [first] = this.#ways.keys();
    if (first !== undefined && this.#ways.size >= MAX_NAMES) this.#ways.delete(first);
    this.#ways.set(name, { isBack: false, restsUntilMs: 0, wantedAtMs: performance.now() });
  }

  /** The name goes with all others again. It is remembered until a timer of it is taken there. */
  bringBack(name: string): void {
    this.#ways.set(name, { isBack: true, restsUntilMs: 0, wantedAtMs: 0 });
  }

  delete(name: string): void {
    this.#ways.delete(name);
  }

  /** @returns whether it has a place now, which is to be given back by `leave` */
  enter(name: string): boolean {
    const way = this.#ways.get(name);
    const nowMs = performance.now();
    if (way !== undefined) way.wantedAtMs = nowMs;
    if (this.#trying.has(name) || this.#trying.size >= PLACES || nowMs < (way?.restsUntilMs ?? 0)) return false;
    this.#trying.add(name);
    return true;
  }

  leave(name: string): void {
    this.#trying.delete(name);
  }

  /** Rests, so that others get its place. It does not rest if all of them have one. */
  rest(name: string, tookMs: number): void {
    const sinceMs = performance.now() - WANTED_MS;
    const aside = [...this.#ways.values()].filter(({ isBack, wantedAtMs }) => !isBack && wantedAtMs >= sinceMs).length;
    this.#restFor(name, Math.min(REST.maxMs, REST.ofTook * tookMs * Math.floor(aside / PLACES)));
  }

  /** Rests for longest, as it has cost others their connection. */
  restLongest(name: string): void {
    this.#restFor(name, REST.maxMs);
  }

  #restFor(name: string, ms: number): void {
    const way = this.#ways.get(name);
    if (way !== undefined) way.restsUntilMs = performance.now() + ms;
  }
}
