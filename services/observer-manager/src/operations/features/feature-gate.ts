import { type Feature, MANAGER_FEATURES } from "@unacked/contracts";
import {
  allKnow,
  MANAGER_GONE_MS,
  MANAGER_SILENT_MS,
  type ManagerSighting,
  mayGoOn,
  type ReadersLook,
  readersKnow,
  SETTLED_MS,
  servicesKnow,
} from "../../domain/features/readers-know.ts";
import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";

export interface ManagerWord extends Omit<ManagerSighting, "isSilent"> {
  id: string;
  version: string;
}

export interface FeatureStore {
  /** Renews this manager's row, and removes those of managers that are gone. @returns all others */
  announce(word: ManagerWord, silentMs: number, goneMs: number): Promise<ManagerSighting[]>;
  /** What all managers have been seen to know, whichever of them has seen it. */
  known(): Promise<string[]>;
  noteKnown(features: readonly string[]): Promise<void>;
  /** A reader was seen that may not know it. */
  forgetKnown(features: readonly string[]): Promise<void>;
  /** Takes this manager's row away. */
  leave(id: string): Promise<void>;
  /** What each living service of a pool announced. */
  featuresInPool(pool: string): Promise<string[][]>;
}

export interface FeatureGateParts {
  store: FeatureStore;
  /** Consumers of the state queue, this manager among them; null while this one does not consume it. */
  stateConsumers(): number | null;
  managerId: string;
  version: string;
  log: Log;
}

const EVERY_MS = 2_000;
/** Looks are so far apart until it has seen the first consumers. */
const FIRST_LOOKS_MS = 100;

/**
 * What can be used while old and new versions run side by side. It announces what this manager can do, and answers for others:
 * something new goes to a pool when all its living services announce it, and comes back through the state queue when all its
 * readers do. It may answer no for some seconds too long, and yes for two too long when an older manager comes back.
 *
 * What all readers have known for a while is written down, until one is seen that may not know it: whoever has seen that watches anew. A manager that starts
 * goes on with what is written down at its first look. Books that begin with this version know all that it does (docs/decisions/0020).
 */
export class FeatureGate {
  readonly #parts: FeatureGateParts;
  #looks: ReadersLook[] = [];
  /** What all readers have been seen to understand, unless one was seen since that may not. */
  readonly #known = new Set<Feature>();
  #hasSeenReaders = false;
  readonly #loop = new Loop({ round: () => this.#look(), failed: (error) => this.#failed(error) });

  constructor(parts: FeatureGateParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  /** Resolves when this manager's row is gone, or cannot be taken away. */
  async stop(): Promise<void> {
    await this.#loop.end();
    const { store, managerId, log } = this.#parts;
    await store
      .leave(managerId)
      .catch((error: unknown) => log.debug({ err: error }, "the row of this manager stays a while"));
  }

  /** Whether everything that reads the state queue understands what this feature brings. */
  readersKnow(feature: Feature): boolean {
    return readersKnow(feature, this.#looks, performance.now());
  }

  /** The same; where it was so before, it stays so while nobody can be asked. */
  mayGoOnWith(feature: Feature): boolean {
    return this.#known.has(feature) && mayGoOn(feature, this.#looks);
  }

  /**
   * Whether whoever reads the state queue now, or next, understands it: this manager alone, or those that all knew it. One that stands still, and is
   * silent, counts as it did before.
   */
  nextReaderKnows(feature: Feature): boolean {
    return this.#parts.stateConsumers() === 1 || this.readersKnow(feature) || this.mayGoOnWith(feature);
  }

  /**
   * Whether every manager that lives announces it, or all readers did while the books can be asked of none, and every living service of these
   * pools; without a service the first to come is trusted.
   */
  async allKnow(feature: Feature, pools: readonly string[]): Promise<boolean> {
    const look = this.#looks.at(-1);
    const managersKnow = look?.managers.every(({ isSilent, features }) => isSilent || features.includes(feature));
    if (!(managersKnow ?? this.#known.has(feature))) return false;
    const services = await Promise.all(pools.map((pool) => this.#parts.store.featuresInPool(pool)));
    return services.flat().every((features) => features.includes(feature));
  }

  /** Whether every living service of the pool has this feature; false where there is none. */
  async servicesKnow(feature: Feature, pool: string): Promise<boolean> {
    return servicesKnow(feature, await this.#parts.store.featuresInPool(pool));
  }

  /** Whether both know it: then what goes to a pool's services and is answered through the state queue may be used. */
  async mayUse(feature: Feature, pool: string): Promise<boolean> {
    return this.readersKnow(feature) && (await this.servicesKnow(feature, pool));
  }

  async #look(): Promise<number> {
    const { store, stateConsumers, managerId: id, version } = this.#parts;
    const consumers = stateConsumers();
    const word = { id, version, features: MANAGER_FEATURES, isConsuming: consumers !== null };
    const managers = await store.announce(word, MANAGER_SILENT_MS, MANAGER_GONE_MS);
    const atMs = performance.now();
    this.#looks = [...behind(this.#looks, atMs), { atMs, consumers, managers }];
    await this.#learn(this.#looks.at(-1) as ReadersLook);
    this.#hasSeenReaders ||= consumers !== null;
    return this.#hasSeenReaders ? EVERY_MS : FIRST_LOOKS_MS;
  }

  async #learn(look: ReadersLook): Promise<void> {
    const { store } = this.#parts;
    // Whoever was seen once may be there still where the next look cannot say so: it fails, or a dead manager could stand for that one.
    for (const feature of this.#known) if (!mayGoOn(feature, [look])) this.#known.delete(feature);
    const noted = await store.known();
    const settled = MANAGER_FEATURES.filter((feature) => this.readersKnow(feature));
    const goOn = MANAGER_FEATURES.filter((feature) => noted.includes(feature) && allKnow(feature, look));
    for (const feature of [...settled, ...goOn]) this.#known.add(feature);
    const fresh = settled.filter((feature) => !noted.includes(feature));
    const doubted = noted.filter((feature) => !mayGoOn(feature, [look]));
    if (fresh.length > 0) await store.noteKnown(fresh);
    if (doubted.length > 0) await store.forgetKnown(doubted);
  }

  #failed(error: unknown): number {
    this.#looks = [];
    this.#parts.log.warn({ err: error }, "what the other managers know could not be read, trying again");
    return EVERY_MS;
  }
}

/** The looks that are still needed: back to one that is older than what has to be settled. */
function behind(looks: ReadersLook[], nowMs: number): ReadersLook[] {
  const first = looks.findLastIndex(({ atMs }) => atMs <= nowMs - SETTLED_MS);
  return looks.slice(Math.max(0, first));
}
