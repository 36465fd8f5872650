import { newMessageId, type ServiceId, type TaskId } from "@unacked/contracts";
import type { Source } from "../../../domain/observers/current-run.ts";
import { ANSWERS_WITHIN_MS } from "../../../domain/tasks/proof-times.ts";
import { ProofTurns } from "../../../domain/tasks/proof-turns.ts";
import type { Log } from "../../log.ts";
import { Loop, untilNext } from "../../loop.ts";
import { MARKER_LIVES_MS, type TaskMarkers } from "./task-markers.ts";
import type { TaskProof, TaskProofStore, TaskSession } from "./task-proof-store.ts";

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
const ASK_AGAIN_MS = 3_000;
const ABANDONED_AT_ONCE = 1_000;

/**
 * Finds tasks that were lost between the books and the services: never published, purged, or gone with an event that could not be
 * read. Guarantees: nothing is sent again while its message may be somewhere. A crash leaves a row, with which any manager goes on.
 */
export class TaskProver {
  readonly #parts: TaskProverParts;
  readonly #turns = new ProofTurns();
  /** Pools whose last proof came to no end: who is gone there the books may not know yet. */
  readonly #shaken = new Set<string>();
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

  /** Has these pools proven before their turn. */
  booksAreBehind(pools: readonly string[]): void {
    for (const pool of pools) {
      this.#turns.booksAreBehind(pool, performance.now());
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
    const pools = this.#turns.due(inDoubt, nowMs);
    // What is not due here may be another manager's.
    const all = inDoubt.map(({ pool }) => pool);
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
    this.#turns.concluded(pool, proof.beganAgoMs, performance.now());
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
