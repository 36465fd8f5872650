import { newMessageId, type ServiceId, type TaskId } from "@unacked/contracts";
import type { Source } from "../../../domain/observers/current-run.ts";
import type { Log } from "../../log.ts";
import { Loop, untilNext } from "../../loop.ts";

/** What is known of a proof (docs/decisions/0032-task-absence.md). */
export interface TaskProof {
  pool: string;
  markerId: string;
  /** Those that have to answer, by `<id>.<generation>`: who may have lived when its marker was seen. */
  services: string[];
  /** How long ago its marker was seen; null: it was not yet. */
  seenAgoMs: number | null;
  beganAgoMs: number;
  /** How long ago they were asked; null: nobody was. */
  askedAgoMs: number | null;
  /** Those that have answered. Those that were gone before its marker was sent count, too: what they had held is in front of it. */
  answered: string[];
}

/** A session of a service that takes tasks, or has something of them. */
export interface TaskSession {
  /** `<id>.<generation>` */
  name: string;
  isLiving: boolean;
  /** It takes tasks. */
  isConsuming: boolean;
  /** It has ended since the proof of its pool began. */
  hasEndedSince: boolean;
}

export interface PoolInDoubt {
  pool: string;
  /** Something is Sent for long, runs on a service that has gone, or was cancelled long ago; else something only runs for long. */
  isUrgent: boolean;
}

export interface TaskProofStore {
  poolsInDoubt(): Promise<PoolInDoubt[]>;
  /** Pools that have a proof under way. */
  provenPools(): Promise<string[]>;
  /** Proofs of pools where nobody is in doubt are worth nothing. */
  forgetOthers(pools: string[]): Promise<void>;
  find(pool: string): Promise<TaskProof | undefined>;
  /** Sessions of this pool that live, or are not known to be dead; and that have ended lately. */
  sessions(pool: string): Promise<TaskSession[]>;
  /**
   * Begins a proof. Nothing is judged that runs on those that are `gone`: the broker may keep their messages still, or they may live where
   * it has lost sight of them, as the books have yet to hear.
   * @returns false where another manager has begun one
   */
  begin(proof: { pool: string; markerId: string; services: string[]; gone: string[] }): Promise<boolean>;
  /** @param services that have to answer, too */
  asked(markerId: string, services: string[]): Promise<void>;
  drop(markerId: string): Promise<void>;
  /** Makes Ready what is in no inventory, or Cancelled what somebody has cancelled, if all have answered. */
  conclude(proof: TaskProof): Promise<{ ready: number; cancelled: TaskId[] }>;
  /**
   * Ends tasks that somebody has cancelled, and that ran on services that have ended some time ago: so many are Cancelled, or Ready with
   * what came after the cancel. It needs no proof, as nobody runs them, and no service, as there may be none any more.
   */
  endAbandoned(limit: number): Promise<{ ready: number; cancelled: TaskId[] }>;
}

export interface TaskMarkers {
  /** For how long the broker has taken messages, in ms; 0 while it does not. */
  readonly writableForMs: number;
  sendMarker(pool: string, markerId: string): Promise<void>;
  /** @returns false where that session has ended, as the broker says. Whatever else goes wrong is a service that lives. */
  ask(service: Source, markerId: string): Promise<boolean>;
  /** Asks the broker whether the session lives, with no question to the service. */
  lives(service: Source): Promise<boolean>;
  /** The messages of the pool's task queue that nobody holds, and sessions that take them. Null while that is not known. */
  queue(pool: string): Promise<{ ready: number; consumers: number } | null>;
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
/** The steps of a young proof are so far apart: it has to be over before the next service dies, where some keep doing that. */
const STEP_MS = 100;
const YOUNG_MS = 5_000;
/** After an alarm all managers first get rid of what waited in their sockets. */
const SETTLED_MS = 5_000;
/** A marker that is not seen by then and is not in the queue is lost. */
const LOST_AFTER_MS = 10_000;
/** It waits behind long tasks, and has expired by then. */
export const MARKER_LIVES_MS = 600_000;
const ASK_AGAIN_MS = 3_000;
/** What runs on a living service is looked after so often: its end may have been lost on the way. */
const ROUTINE_MS = 600_000;
/**
 * A proof does not judge what was sent within twelve seconds before it began (task-proof-store.ts); and the clocks of two servers may
 * differ.
 */
const NOT_JUDGED_MS = 15_000;
/** Whatever was sent so long ago, and is not over, has its pool in doubt. */
const IN_DOUBT_AFTER_MS = 25_000;
const ABANDONED_AT_ONCE = 1_000;
/**
 * A proof begins again if somebody answers nothing for so long: he is about to be found dead. It is less than services remember what they
 * gave back (task-teller.ts).
 */
const ANSWERS_WITHIN_MS = 45_000;

/**
 * Finds tasks that were lost between the books and the services: never published, purged, or gone with an event that could not be
 * read. Guarantees: nothing is sent again while its message may be somewhere. A crash leaves a row, with which any manager goes on.
 */
export class TaskProver {
  readonly #parts: TaskProverParts;
  /** When a proof was concluded here last, by pool. */
  readonly #concludedMs = new Map<string, number>();
  /** Pools whose last proof came to no end: who is gone there the books may not know yet. */
  readonly #shaken = new Set<string>();
  /** Pools in which something was told that the books lack, and when that was found: what is Running there may have ended. */
  readonly #behind = new Map<string, number>();
  readonly #loop = new Loop({ round: () => this.#look(), failed: (error) => this.#failed(error) });

  constructor(parts: TaskProverParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start(EVERY_MS);
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  /**
   * Has these pools proven before their turn, once all that may have been lost by now would be judged. This is kept in memory: if this
   * manager dies, they are proven in their turn.
   */
  booksAreBehind(pools: readonly string[]): void {
    const nowMs = performance.now();
    for (const pool of pools) {
      this.#behind.set(pool, nowMs);
      this.#parts.log.warn(
        { event: "task-news-lost", pool },
        "something that services reported about tasks is not in the books",
      );
    }
  }

  async #look(): Promise<number> {
    const { store, markers, isCaughtUp } = this.#parts;
    if (markers.writableForMs < SETTLED_MS || !isCaughtUp()) return untilNext(EVERY_MS);
    const nowMs = performance.now();
    const [inDoubt, proven] = await Promise.all([store.poolsInDoubt(), store.provenPools()]);
    if (inDoubt.some(({ isUrgent }) => isUrgent)) await this.#endAbandoned();
    for (const { pool } of inDoubt) if (!this.#concludedMs.has(pool)) this.#concludedMs.set(pool, nowMs);
    const isDue = (pool: string): boolean =>
      nowMs - (this.#concludedMs.get(pool) ?? nowMs) > ROUTINE_MS ||
      nowMs - (this.#behind.get(pool) ?? nowMs) > NOT_JUDGED_MS;
    const pools = inDoubt.filter(({ pool, isUrgent }) => isUrgent || isDue(pool)).map(({ pool }) => pool);
    // What is not due here may be another manager's.
    const all = inDoubt.map(({ pool }) => pool);
    for (const [pool, sinceMs] of this.#behind)
      if (nowMs - sinceMs > IN_DOUBT_AFTER_MS && !all.includes(pool)) this.#behind.delete(pool);
    if (proven.some((pool) => !all.includes(pool))) await store.forgetOthers(all);
    const steps = await Promise.allSettled(pools.map((pool) => this.#prove(pool)));
    for (const step of steps) if (step.status === "rejected") throw step.reason;
    return steps.some((step) => step.status === "fulfilled" && step.value) ? STEP_MS : untilNext(EVERY_MS);
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "could not find out whether tasks are lost, trying again");
    return EVERY_MS;
  }

  /** @returns whether its next step may be possible soon */
  async #prove(pool: string): Promise<boolean> {
    const { store } = this.#parts;
    const proof = await store.find(pool);
    const sessions = await store.sessions(pool);
    const living = sessions.filter(({ isLiving }) => isLiving).map(({ name }) => name);
    if (proof === undefined) return living.length > 0 && this.#begin(pool, sessions);
    const isSeen = proof.seenAgoMs !== null;
    const since = isSeen ? sessions.filter((one) => one.isLiving || one.hasEndedSince).map(({ name }) => name) : [];
    const missing = [...new Set([...proof.services, ...since])].filter((service) => !proof.answered.includes(service));
    if (isSeen && missing.length === 0) {
      await this.#conclude(proof);
      return false;
    }
    const willAnswer = missing.every((service) => living.includes(service)) && (await this.#goesOn(proof, missing));
    if (willAnswer) return proof.beganAgoMs < YOUNG_MS;
    this.#shaken.add(pool);
    await store.drop(proof.markerId);
    return true;
  }

  /** @returns false where it comes to no end any more, and has to begin again */
  async #goesOn(proof: TaskProof, missing: string[]): Promise<boolean> {
    if (proof.seenAgoMs === null) return !(await this.#isLost(proof));
    if (proof.seenAgoMs > ANSWERS_WITHIN_MS) return false;
    const isAsked = missing.every((service) => proof.services.includes(service));
    if (isAsked && proof.askedAgoMs !== null && proof.askedAgoMs < ASK_AGAIN_MS) return true;
    const { store, markers } = this.#parts;
    await store.asked(proof.markerId, missing);
    const live = await Promise.all(missing.map((service) => markers.ask(parsed(service), proof.markerId)));
    return !live.includes(false);
  }

  /** @returns whether one has begun */
  async #begin(pool: string, sessions: TaskSession[]): Promise<boolean> {
    const { store, markers } = this.#parts;
    const living = sessions.filter(({ isLiving }) => isLiving);
    const services = living.map(({ name }) => name);
    const gone = this.#shaken.has(pool) ? await this.#goneOf(services) : [];
    if (gone.length === services.length) return false;
    if (gone.length > 0 || living.length < sessions.length) {
      // A session has left what it held when its consumer is gone. Else the books do not know somebody yet, or the broker cannot reach him,
      // or waits for him.
      const queue = await markers.queue(pool);
      const others = living.filter(({ name, isConsuming }) => isConsuming && !gone.includes(name)).length;
      if (queue === null || queue.consumers > others) return false;
    }
    if (markers.writableForMs < SETTLED_MS) return false; // there was an alarm meanwhile
    const markerId = newMessageId();
    const isOurs = await store.begin({ pool, markerId, services, gone });
    if (isOurs) await markers.sendMarker(pool, markerId);
    return isOurs;
  }

  async #goneOf(services: string[]): Promise<string[]> {
    const live = await Promise.all(services.map((service) => this.#parts.markers.lives(parsed(service))));
    return services.filter((_, i) => live[i] === false);
  }

  async #isLost({ pool, beganAgoMs }: TaskProof): Promise<boolean> {
    if (beganAgoMs < LOST_AFTER_MS) return false;
    return beganAgoMs > MARKER_LIVES_MS || (await this.#parts.markers.queue(pool))?.ready === 0;
  }

  async #endAbandoned(): Promise<void> {
    const { store, wake, over, log } = this.#parts;
    const { ready, cancelled } = await store.endAbandoned(ABANDONED_AT_ONCE);
    if (ready + cancelled.length === 0) return;
    log.info(
      { event: "tasks-abandoned", cancelled: cancelled.length, again: ready },
      "tasks that were cancelled are over: the services that had them have ended",
    );
    over(cancelled);
    wake();
  }

  async #conclude(proof: TaskProof): Promise<void> {
    const { store, wake, over, log } = this.#parts;
    const { pool } = proof;
    const { ready, cancelled } = await store.conclude(proof);
    const nowMs = performance.now();
    this.#concludedMs.set(pool, nowMs);
    const behindSinceMs = this.#behind.get(pool) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - proof.beganAgoMs > behindSinceMs + NOT_JUDGED_MS) this.#behind.delete(pool);
    this.#shaken.delete(pool);
    if (ready + cancelled.length === 0) return;
    log.warn(
      { event: "tasks-absent", pool, tasks: ready, cancelled: cancelled.length },
      "tasks were in no queue and on no service: they are sent again, or cancelled where that was asked for",
    );
    over(cancelled);
    wake();
  }
}

function parsed(service: string): Source {
  const [serviceId, generation] = service.split(".");
  return { serviceId: serviceId as ServiceId, generation: Number(generation) };
}
