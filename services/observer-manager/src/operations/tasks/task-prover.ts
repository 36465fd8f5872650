import { newMessageId, type TaskId } from "@unacked/contracts";
import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";

/** What is known of a proof (docs/decisions/0011-tasks.md, absence). */
export interface TaskProof {
  pool: string;
  markerId: string;
  /** Those that lived when it began, by `<id>.<generation>`, in order. */
  services: string[];
  isSeen: boolean;
  beganAgoMs: number;
  /** null: nobody was asked. */
  askedAgoMs: number | null;
  answered: string[];
}

export interface PoolInDoubt {
  pool: string;
  /** Something is Sent for long, runs on a service that has gone, or was cancelled long ago; else something only runs for long. */
  isUrgent: boolean;
}

export interface TaskProofStore {
  poolsInDoubt(): Promise<PoolInDoubt[]>;
  /** Proofs of pools where nobody is in doubt are worth nothing. */
  forgetOthers(pools: string[]): Promise<void>;
  find(pool: string): Promise<TaskProof | undefined>;
  /** Those that live, or are not known to be dead, and take tasks of this pool. */
  livingServices(pool: string): Promise<string[]>;
  /** @returns false where another manager has begun one */
  begin(proof: { pool: string; markerId: string; services: string[] }): Promise<boolean>;
  asked(markerId: string): Promise<void>;
  drop(markerId: string): Promise<void>;
  /** Makes Ready what is in no inventory, or Cancelled what somebody has cancelled, if all have answered. */
  conclude(proof: TaskProof): Promise<{ ready: number; cancelled: TaskId[] }>;
}

export interface TaskMarkers {
  /** For how long the broker has taken messages, in ms; 0 while it does not. */
  readonly writableForMs: number;
  sendMarker(pool: string, markerId: string): Promise<void>;
  ask(service: { serviceId: string; generation: number }, markerId: string): Promise<void>;
  /** Messages in the pool's task queue that nobody holds; null while that is not known. */
  depth(pool: string): Promise<number | null>;
}

export interface TaskProverParts {
  store: TaskProofStore;
  markers: TaskMarkers;
  /** The books have read what services said of themselves. */
  isCaughtUp(): boolean;
  /** Something may be due. */
  wake(): void;
  /** These are over. */
  over(tasks: TaskId[]): void;
  log: Log;
}

const EVERY_MS = 2_000;
/** Between the steps of a young proof: it has to be over before the next service comes or goes, where some keep doing that. */
const STEP_MS = 100;
const YOUNG_MS = 5_000;
/** After an alarm all managers first get rid of what waited in their sockets. */
const SETTLED_MS = 5_000;
/** A marker that is not seen by then and is not in the queue is lost. */
const LOST_AFTER_MS = 10_000;
/** Behind long tasks it waits; expired by then. */
export const MARKER_LIVES_MS = 600_000;
const ASK_AGAIN_MS = 3_000;
/** What runs on a living service is looked after so often: its end may have been lost on the way. */
const ROUTINE_MS = 600_000;
/** A service that answers nothing for so long is about to be found dead: it begins again. */
const ANSWERS_WITHIN_MS = 60_000;

/**
 * Finds tasks that were lost between the books and the services: never published, purged, or gone with an event that could not be
 * read. Guarantees: nothing is sent again while its message may be somewhere. A crash leaves a row, with which any manager goes on.
 */
export class TaskProver {
  readonly #parts: TaskProverParts;
  /** By pool: when a proof was concluded last, here. */
  readonly #concludedMs = new Map<string, number>();
  readonly #loop = new Loop({ round: () => this.#look(), failed: (error) => this.#failed(error) });

  constructor(parts: TaskProverParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start(EVERY_MS);
  }

  stop(): void {
    this.#loop.stop();
  }

  async #look(): Promise<number> {
    const { store, markers, isCaughtUp } = this.#parts;
    if (markers.writableForMs < SETTLED_MS || !isCaughtUp()) return EVERY_MS;
    const nowMs = performance.now();
    const inDoubt = await store.poolsInDoubt();
    for (const { pool } of inDoubt) if (!this.#concludedMs.has(pool)) this.#concludedMs.set(pool, nowMs);
    const isDue = (pool: string): boolean => nowMs - (this.#concludedMs.get(pool) ?? nowMs) > ROUTINE_MS;
    const pools = inDoubt.filter(({ pool, isUrgent }) => isUrgent || isDue(pool)).map(({ pool }) => pool);
    await store.forgetOthers(pools);
    let goesOn = false;
    for (const pool of pools) if (await this.#prove(pool)) goesOn = true;
    return goesOn ? STEP_MS : EVERY_MS;
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "whether tasks are lost could not be found out; it is tried again");
    return EVERY_MS;
  }

  /** @returns whether its next step may be possible soon */
  async #prove(pool: string): Promise<boolean> {
    const { store } = this.#parts;
    const living = await store.livingServices(pool);
    const proof = await store.find(pool);
    if (proof === undefined) return living.length > 0 && this.#begin(pool, living);
    const isOld =
      !isSame(living, proof.services) || (proof.isSeen && proof.beganAgoMs > MARKER_LIVES_MS + ANSWERS_WITHIN_MS);
    if (isOld || (!proof.isSeen && (await this.#isLost(proof)))) {
      await store.drop(proof.markerId);
      return true;
    }
    const missing = proof.services.filter((service) => !proof.answered.includes(service));
    if (proof.isSeen && missing.length === 0) {
      await this.#conclude(proof);
      return false;
    }
    if (proof.isSeen && (proof.askedAgoMs ?? Number.POSITIVE_INFINITY) >= ASK_AGAIN_MS) await this.#ask(proof, missing);
    return proof.beganAgoMs < YOUNG_MS;
  }

  async #ask({ markerId }: TaskProof, services: string[]): Promise<void> {
    const { store, markers } = this.#parts;
    await store.asked(markerId);
    for (const service of services) {
      const [serviceId = "", generation] = service.split(".");
      await markers.ask({ serviceId, generation: Number(generation) }, markerId);
    }
  }

  /** @returns false where another manager has begun one */
  async #begin(pool: string, services: string[]): Promise<boolean> {
    const { store, markers } = this.#parts;
    const markerId = newMessageId();
    const isOurs = await store.begin({ pool, markerId, services });
    if (isOurs) await markers.sendMarker(pool, markerId);
    return isOurs;
  }

  async #isLost({ pool, beganAgoMs }: TaskProof): Promise<boolean> {
    if (beganAgoMs < LOST_AFTER_MS) return false;
    return beganAgoMs > MARKER_LIVES_MS || (await this.#parts.markers.depth(pool)) === 0;
  }

  async #conclude(proof: TaskProof): Promise<void> {
    const { store, wake, over, log } = this.#parts;
    const { pool } = proof;
    const { ready, cancelled } = await store.conclude(proof);
    this.#concludedMs.set(pool, performance.now());
    if (ready + cancelled.length === 0) return;
    log.warn(
      { event: "tasks-absent", pool, tasks: ready, cancelled: cancelled.length },
      "tasks were in no queue and on no service: they are sent again, or cancelled where that was asked for",
    );
    over(cancelled);
    wake();
  }
}

const isSame = (some: string[], others: string[]): boolean =>
  some.length === others.length && some.every((service, i) => service === others[i]);
