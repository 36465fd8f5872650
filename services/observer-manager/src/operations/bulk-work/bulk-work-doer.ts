import { type BeginWork, MAX_WORK_NAMES, type ObserverId, type ProblemCode, WORK_ACTS } from "@unacked/contracts";
import type { BooksTransaction } from "../books/books-store.ts";
import type { Log } from "../log.ts";
import { Loop, untilNext } from "../loop.ts";
import { actionOf, changeSome } from "../observers/bulk.ts";
import { type BulkWorkStep, type BulkWorkStore, matchOf, type NewBulkWork } from "./bulk-work-store.ts";

/** Rows locked by one step: services' own events about them wait so long, and so does who cancels. */
const AT_ONCE = 250;
/** Work that another manager has begun is seen by then. */
const BACKSTOP_MS = 1_000;
const FAILED_PAUSE_MS = 1_000;

export interface WorkDoerParts {
  store: BulkWorkStore;
  mayDo(act: BeginWork["act"]): boolean;
  /** Told after each commit that wrote a command. */
  committed(): void;
  log: Log;
}

/**
 * Comes in: work that somebody has begun, on this manager or another. Guarantees: each observer that matches is asked once; place, counts
 * and what was done commit together. A crash leaves the steps before it: docs/decisions/0024-bulk-work.md.
 */
export class BulkWorkDoer {
  readonly #parts: WorkDoerParts;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });

  constructor(parts: WorkDoerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  wake(): void {
    this.#loop.wake();
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #round(): Promise<number> {
    const { store, mayDo, committed } = this.#parts;
    const isWoken = this.#loop.takeWake();
    const acts = WORK_ACTS.filter(mayDo);
    if (acts.length === 0 || (!isWoken && !(await store.isAnyRunning()))) return untilNext(BACKSTOP_MS);
    const hasMoved = await store.advance({ acts, atOnce: AT_ONCE }, takeStep);
    if (!hasMoved) return untilNext(BACKSTOP_MS);
    committed();
    return 0;
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "a step of bulk work could not be done, trying again");
    return FAILED_PAUSE_MS;
  }
}

async function takeStep(tx: BooksTransaction, work: NewBulkWork, ids: ObserverId[]): Promise<BulkWorkStep> {
  const { act: kind, force, whenFull } = work.wish;
  const filter = matchOf(work.wish);
  const change = { kind, force, whenFull, dryRun: false };
  const action = { ...actionOf(change, work.by, filter, { work: work.id }), id: work.auditId };
  const { accepted, refused } = await changeSome(tx, { ids, filter, change, action });
  // Names are read of those alone that may be shown.
  const named = await tx.viewObservers(firstOfEach(refused));
  return {
    accepted: accepted.length,
    refused: refused.map(({ id, code }) => ({ code, name: named.get(id)?.name ?? "" })),
  };
}

/** Takes as many of each reason as are named. */
function firstOfEach(refused: readonly { id: ObserverId; code: ProblemCode }[]): ObserverId[] {
  const counts = new Map<ProblemCode, number>();
  return refused.flatMap(({ id, code }) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    return count <= MAX_WORK_NAMES ? [id] : [];
  });
}
