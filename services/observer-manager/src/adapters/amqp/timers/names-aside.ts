/** Fewer than RabbitMQ bears of one queue that confirms nothing: whatever queues they are for, it goes on to read. */
const PLACES = 16;
/** A name that holds its place until it is too late leaves it to others for as long as all that do would need, twice over. */
const REST = { ofTook: 2, maxMs: 300_000 };
/** Of a name that stands back, one is wanted again at least so often; one that is not has been cancelled, or fired by another manager. */
const WANTED_MS = 60_000;
/** The first of more are forgotten, and go with all others. */
const MAX_NAMES = 10_000;

interface Way {
  /** Of those aside one was taken, and none yet with all others. */
  isBack: boolean;
  restsUntilMs: number;
  /** When one of it was to be sent last. */
  wantedAtMs: number;
}

/** Names of timers that were not taken, and the places that they share: one for each name, and few in all. */
export class NamesAside {
  readonly #ways = new Map<string, Way>();
  /** Names of which one is on its way. */
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

  /** It goes with all others again, and is remembered until one is taken there. */
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

  /** So that others get its place: not at all where all of them have one. */
  rest(name: string, tookMs: number): void {
    const sinceMs = performance.now() - WANTED_MS;
    const aside = [...this.#ways.values()].filter(({ isBack, wantedAtMs }) => !isBack && wantedAtMs >= sinceMs).length;
    this.#restFor(name, Math.min(REST.maxMs, REST.ofTook * tookMs * Math.floor(aside / PLACES)));
  }

  /** As it has cost others their connection. */
  restLongest(name: string): void {
    this.#restFor(name, REST.maxMs);
  }

  #restFor(name: string, ms: number): void {
    const way = this.#ways.get(name);
    if (way !== undefined) way.restsUntilMs = performance.now() + ms;
  }
}
