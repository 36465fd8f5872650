import { newMessageId, type ObserverId } from "@unacked/contracts";
import {
  MARKER_LIVES_MS,
  nextStep,
  type ProofSighting,
  type ProofStep,
  serviceSet,
} from "../../domain/observers/absence-proof.ts";
import type { Log } from "../log.ts";

export interface ProofStore {
  /** All that the books know of a sighting. */
  sight(pool: string, forMs: number): Promise<Omit<ProofSighting, "ready">>;
  /** @returns false where another manager was faster, or too many starts are on their way */
  begin(pool: string, markerId: string, services: string, insteadOf: string | null): Promise<boolean>;
  /** Begins one for a pool that is looked at by counts, in the place of whatever there is. */
  beginCounted(pool: string, markerId: string): Promise<void>;
  /**
   * Asks every living service of the pool for its inventory, in this round.
   * @param pairServices the services, where this round is the first of a pair. @returns false where another manager was faster
   */
  ask(
    pool: string,
    seen: { markerId: string; round: number },
    next: { round: number; pairServices: string | null },
  ): Promise<boolean>;
  /** Those that a proof concludes to be absent, up to the limit, each with the mark of its row. */
  absent(
    pool: string,
    markerId: string,
    whom: "unchanged" | "deleting",
    among: { forMs: number; limit: number },
  ): Promise<{ id: ObserverId; mark: string }[]>;
  /** Removes what is of no use any more. */
  clear(poolsInDoubt: string[], olderThanMs: number): Promise<void>;
}

export interface MarkerSender {
  /** Messages that nobody holds; null where the queue cannot be asked. */
  ready(pool: string): Promise<number | null>;
  /** Sends them through the pool's work queue and the state queue. Rejects if either is not confirmed. */
  sendMarkers(marker: { pool: string; markerId: string; livesMs: number }): Promise<void>;
  /** Sends it through the state queue alone. Rejects if it is not confirmed. */
  sendStateMarker(marker: { pool: string; markerId: string; livesMs: number }): Promise<void>;
}

export interface AbsenceProverParts {
  store: ProofStore;
  markers: MarkerSender;
  /** Repairs those whose rows still have these marks. */
  repair(pool: string, ids: ObserverId[], marks: ReadonlyMap<string, string>): Promise<void>;
  /** Told after a commit that wrote commands. */
  committed(): void;
  log: Log;
}

const MAX_AT_ONCE = 2_000;
/** It lives as long as a look by counts stands (reconciler.ts). */
const COUNTED_LIVES_MS = 60_000;

/**
 * Takes a pool's proof of absence one step further (docs/decisions/0008-proof-of-absence.md, domain/observers/absence-proof.ts). All of
 * it stands in a row, so that any manager takes the next step; a marker that was not sent after the row was written is lost,
 * and the proof begins again with another. A crash in between leaves the row.
 */
export class AbsenceProver {
  readonly #parts: AbsenceProverParts;

  constructor(parts: AbsenceProverParts) {
    this.#parts = parts;
  }

  /** @returns whether the next step may be due in less than a second */
  async advance(pool: string, forMs: number): Promise<boolean> {
    const { store, markers } = this.#parts;
    const ready = await markers.ready(pool);
    if (ready === null) return false;
    const sighting = { ...(await store.sight(pool, forMs)), ready };
    const step = nextStep(sighting);
    await this.#take(pool, step, sighting, forMs);
    const isOpen = sighting.proof !== null && (sighting.proof.queueSeen || ready === 0);
    return step.kind !== "wait" || isOpen;
  }

  async #take(pool: string, step: ProofStep, { proof, services }: ProofSighting, forMs: number): Promise<void> {
    const { store, markers, repair, committed } = this.#parts;
    if (step.kind === "begin") {
      const markerId = newMessageId();
      const isOurs = await store.begin(pool, markerId, serviceSet(services), proof?.markerId ?? null);
      if (isOurs) await markers.sendMarkers({ pool, markerId, livesMs: MARKER_LIVES_MS });
    } else if (step.kind === "ask" && proof !== null) {
      const pairServices = step.beginsPair ? serviceSet(services) : null;
      if (await store.ask(pool, proof, { round: step.round, pairServices })) committed();
    } else if (step.kind === "conclude" && proof !== null) {
      const absent = await store.absent(pool, proof.markerId, step.whom, { forMs, limit: MAX_AT_ONCE });
      const marks = new Map<string, string>(absent.map(({ id, mark }) => [id, mark]));
      if (absent.length > 0) await repair(pool, [...marks.keys()] as ObserverId[], marks);
    }
  }

  /** Sends a marker. Once it has been read, the books have read all that was said before a look by counts that was taken before this. */
  async mark(pool: string): Promise<void> {
    const { store, markers } = this.#parts;
    const markerId = newMessageId();
    await store.beginCounted(pool, markerId);
    await markers.sendStateMarker({ pool, markerId, livesMs: COUNTED_LIVES_MS });
  }

  /** @param poolsInDoubt pools in which there still is something to be proven */
  async clear(poolsInDoubt: string[]): Promise<void> {
    await this.#parts.store.clear(poolsInDoubt, MARKER_LIVES_MS);
  }
}
