import type { ObserverId, ObserverStatus, ServiceId } from "@unacked/contracts";
import { provenAbsent, type Sighting } from "../../domain/observers/absence.ts";
import { applyInput } from "../../domain/observers/observer-input.ts";
import { allInOrder } from "../all-in-order.ts";
import type { BooksStore } from "../books/books-store.ts";
import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import type { AbsenceProver } from "./absence-prover.ts";

export interface ReconcilerStore {
  /** Pools in which an observer has been without a run, and without a start to be sent, for `forMs`. */
  poolsInDoubt(forMs: number): Promise<string[]>;
  /** All that the books know of a sighting. */
  sight(pool: string, forMs: number): Promise<Pick<Sighting, "suspects" | "services" | "readUntilMs" | "atMs">>;
  /** Makes starts due that were sent back for their type, where a service has it. @returns how many */
  sendKnownStarts(): Promise<number>;
  /** Asks every living service of the pool for its inventory. */
  askInventories(pool: string): Promise<void>;
  /** Living services whose own count of runs differs, at this moment, from the books'. */
  servicesThatCountOtherwise(): Promise<{ id: ServiceId; generation: number; name: string }[]>;
  askInventory(service: { id: ServiceId; generation: number }): Promise<void>;
}

export interface QueueLook {
  /** The work queue of a pool and the state queue, as they are now; null while the broker cannot be asked. */
  look(pool: string): Promise<Pick<Sighting, "queue" | "stateQueueDepth"> | null>;
}

export interface ReconcilerParts {
  store: ReconcilerStore;
  books: BooksStore;
  queues: QueueLook;
  prover: Pick<AbsenceProver, "advance" | "mark" | "clear">;
  /** Whether all services of the pool, and all managers, know markers. */
  mayProve(pool: string): Promise<boolean>;
  /** Whether whoever reads the state queue knows markers. */
  mayMark(): boolean;
  isCaughtUp(): boolean;
  /** Told after a commit that wrote commands. */
  committed(): void;
  log: Log;
}

const EVERY_MS = 4_000;
/** Looks are so far apart while something is in doubt. */
const AGAIN_MS = 2_000;
/** Looks are so far apart while services are being asked. */
const SOON_MS = 500;
const COUNTS_EVERY_MS = 10_000;
/** How long an observer may be without a run before it is in doubt: a redelivery takes milliseconds. */
const IN_DOUBT_AFTER_MS = 3_000;
/** So many pools are looked into at once: each waits for database and broker most of the time. */
const POOLS_AT_ONCE = 5;
/**
 * A round gives so much time to pools that nobody serves: there may be a thousand, and one that lacks an observer that it could run waits
 * for them.
 */
const COUNTED_WITHIN_MS = 1_000;

/** What was repaired so far, for metrics. */
export interface RepairCounts {
  sentAgain: number;
  /** Those that were to be in another pool: their messages went with the queue of the one before, as they should. */
  sentElsewhere: number;
  deletionsConcluded: number;
  pausesConcluded: number;
  inventoriesAsked: number;
}

/**
 * Compares what services say they run with what the books say, and repairs both ways: an observer that nobody has is
 * sent again with revision + 1, one being deleted that nobody has is Deleted, and a service whose count differs is asked
 * for everything. Starts that were sent back for their type are due once a service has it. It concludes only from proof (absence-prover.ts, or absence.ts where not all know markers). A crash in between leaves things as they were.
 */
export class Reconciler {
  readonly counts: RepairCounts = {
    sentAgain: 0,
    sentElsewhere: 0,
    deletionsConcluded: 0,
    pausesConcluded: 0,
    inventoriesAsked: 0,
  };
  readonly #parts: ReconcilerParts;
  readonly #firstLooks = new Map<string, Sighting>();
  /** Services that counted otherwise at the last look; counts differ for moments all the time. */
  #countedOtherwise = new Set<string>();
  #countsDueAtMs = 0;
  /** The pool that is looked at by counts next. */
  #nextCounted = "";
  readonly #loop = new Loop({ round: () => this.#lookAround(), failed: (error) => this.#failed(error) });

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start(AGAIN_MS);
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #lookAround(): Promise<number> {
    const { store, prover, isCaughtUp, committed } = this.#parts;
    if ((await store.sendKnownStarts()) > 0) committed();
    if (isCaughtUp()) await this.#askWhereCountsDiffer();
    else this.#firstLooks.clear();
    const pools = await store.poolsInDoubt(IN_DOUBT_AFTER_MS);
    for (const known of [...this.#firstLooks.keys()]) if (!pools.includes(known)) this.#firstLooks.delete(known);
    const isSoon = await this.#lookIntoAll(pools);
    await prover.clear(pools);
    if (isSoon) return SOON_MS;
    return this.#firstLooks.size > 0 ? AGAIN_MS : EVERY_MS;
  }

  /** @returns whether one may be taken further in less than a second */
  async #lookIntoAll(pools: string[]): Promise<boolean> {
    const { prover, mayProve, isCaughtUp } = this.#parts;
    const may = await inGroups(pools, mayProve);
    const proofs = await inGroups(
      pools.filter((_, i) => may[i]),
      (pool) => prover.advance(pool, IN_DOUBT_AFTER_MS),
    );
    if (isCaughtUp()) await this.#lookAtSome(pools.filter((_, i) => !may[i]));
    return proofs.includes(true);
  }

  /** Looks at as many as there is time for; the next ones come in the next round. */
  async #lookAtSome(pools: string[]): Promise<void> {
    const untilMs = performance.now() + COUNTED_WITHIN_MS;
    const next = Math.max(0, pools.indexOf(this.#nextCounted));
    const inTurn = [...pools.slice(next), ...pools.slice(0, next)];
    let looked = 0;
    for (const pool of inTurn) {
      if (performance.now() >= untilMs) break;
      await this.#lookAt(pool);
      looked += 1;
    }
    this.#nextCounted = inTurn[looked] ?? "";
  }

  #failed(error: unknown): number {
    this.#firstLooks.clear();
    this.#parts.log.warn({ err: error }, "the books could not be compared with the services");
    return EVERY_MS;
  }

  /** Looks by counts: in a pool without a service, or with one that does not know markers, or while a manager is silent. */
  async #lookAt(pool: string): Promise<void> {
    const { store, queues, prover, mayMark } = this.#parts;
    if (!mayMark()) return void this.#firstLooks.delete(pool);
    const broker = await queues.look(pool);
    // Observers that wait for a free worker are no reason to ask anybody anything.
    if (!broker || broker.queue.ready > 0) return void this.#firstLooks.delete(pool);
    const now: Sighting = { ...(await store.sight(pool, IN_DOUBT_AFTER_MS)), ...broker };
    const first = this.#firstLooks.get(pool);
    const absent = first ? provenAbsent(first, now) : [];
    if (absent.length > 0) await this.repair(pool, absent as ObserverId[], now.suspects);
    const isStillOpen = first !== undefined && absent.length === 0 && isComparable(first, now);
    if (isStillOpen) return; // the services have yet to answer, or the marker is still to be read
    await prover.mark(pool);
    this.#firstLooks.set(pool, now);
    await store.askInventories(pool);
    this.#parts.committed();
  }

  /** Repairs those of them whose rows still have these marks: nobody has them. */
  async repair(pool: string, ids: ObserverId[], marks: ReadonlyMap<string, string>): Promise<void> {
    const became = new Map<ObserverStatus, number>();
    let sentElsewhere = 0;
    await this.#parts.books.inTransaction(async (tx) => {
      const books = await tx.loadUnchanged(ids, marks);
      for (const observer of books.observers.values()) {
        const wasToMove = observer.messagePool !== null;
        applyInput(books, observer, "absent");
        if (wasToMove && observer.status === "Created") sentElsewhere += 1;
        else became.set(observer.status, (became.get(observer.status) ?? 0) + 1);
      }
      await tx.write(books);
    });
    const sentAgain = became.get("Created") ?? 0;
    const deletionsConcluded = became.get("Deleted") ?? 0;
    const pausesConcluded = became.get("Paused") ?? 0;
    this.counts.sentAgain += sentAgain;
    this.counts.sentElsewhere += sentElsewhere;
    this.counts.deletionsConcluded += deletionsConcluded;
    this.counts.pausesConcluded += pausesConcluded;
    if (sentElsewhere > 0)
      this.#parts.log.info({ event: "sent-elsewhere", pool, sentElsewhere }, "observers of a pool start in another one");
    if (sentAgain + deletionsConcluded + pausesConcluded > 0)
      this.#parts.log.warn(
        { event: "repaired", pool, sentAgain, deletionsConcluded, pausesConcluded },
        "observers that no service ran were repaired",
      );
    this.#parts.committed();
  }

  async #askWhereCountsDiffer(): Promise<void> {
    if (performance.now() < this.#countsDueAtMs) return;
    this.#countsDueAtMs = performance.now() + COUNTS_EVERY_MS;
    const services = await this.#parts.store.servicesThatCountOtherwise();
    const again = services.filter(({ id }) => this.#countedOtherwise.has(id));
    this.#countedOtherwise = new Set(services.filter((service) => !again.includes(service)).map(({ id }) => id));
    if (again.length === 0) return;
    for (const service of again) await this.#parts.store.askInventory(service);
    this.counts.inventoriesAsked += again.length;
    const names = again.map(({ name }) => name);
    this.#parts.log.warn(
      { event: "inventory-asked", services: names },
      "services run more or less than the books say: they are asked for inventories",
    );
    this.#parts.committed();
  }
}

/** Answers in the order of the pools. What fails in one is told when the others of its group are done. */
async function inGroups<T>(pools: readonly string[], act: (pool: string) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (let from = 0; from < pools.length; from += POOLS_AT_ONCE)
    answers.push(...(await allInOrder(pools.slice(from, from + POOLS_AT_ONCE).map(act))));
  return answers;
}

/** Whether the first look still stands: the same services, nothing under way, and not long ago, also by a clock that was set back. */
function isComparable(first: Sighting, now: Sighting): boolean {
  const key = (sighting: Sighting) =>
    JSON.stringify([
      sighting.queue,
      sighting.services.map(({ id, generation, isSuspect, consumes }) => [id, generation, isSuspect, consumes]).toSorted(),
    ]);
  return key(first) === key(now) && Math.abs(now.atMs - first.atMs) < 60_000;
}
