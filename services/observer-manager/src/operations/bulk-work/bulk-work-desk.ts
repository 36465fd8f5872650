import { type BeginWork, newAuditId, newWorkId, type WorkId, type WorkPage, type WorkView } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { encodeWorkCursor } from "../cursor.ts";
import type { Refusal } from "../refusal.ts";
import type { BulkWorkQuery, BulkWorkStore, BulkWorkWish } from "./bulk-work-store.ts";

export type BeginAnswer = { kind: "begun" | "exists"; work: WorkView } | Refusal;

/** What REST asks of work on very many. Each answer is given after the commit. */
export interface BulkWorkTools {
  /** Problems: id-taken, not-ready (also while a manager may be about that cannot do it). */
  beginWork(request: BeginWork, by: Actor): Promise<BeginAnswer>;
  findWork(id: WorkId): Promise<WorkView | undefined>;
  listWork(query: BulkWorkQuery): Promise<WorkPage>;
  /** Problems: work-not-found, work-over. One that was cancelled already is answered as it is. */
  cancelWork(id: WorkId, by: Actor): Promise<WorkView | Refusal>;
}

export interface WorkDeskParts {
  store: BulkWorkStore;
  /** Why it cannot be done now; undefined: it can. */
  whyNot(act: BeginWork["act"]): Refusal | undefined;
  /** There is something to do. */
  wake(): void;
}

/** Comes in: a wish for all that match. It is begun when the answer is given, and is done by whichever manager (BulkWorkDoer). */
export class BulkWorkDesk implements BulkWorkTools {
  readonly #parts: WorkDeskParts;

  constructor(parts: WorkDeskParts) {
    this.#parts = parts;
  }

  async beginWork({ id = newWorkId(), act, filter = {}, all, force, whenFull }: BeginWork, by: Actor): Promise<BeginAnswer> {
    const { store, whyNot, wake } = this.#parts;
    const refusal = whyNot(act);
    if (refusal !== undefined) return refusal;
    const wish: BulkWorkWish = { act, filter, all, force, whenFull };
    const outcome = await store.begin({ id, wish, by, auditId: newAuditId() });
    if (outcome.kind === "taken") return { kind: "problem", code: "id-taken" };
    wake();
    return outcome;
  }

  async findWork(id: WorkId): Promise<WorkView | undefined> {
    const work = await this.#parts.store.find(id);
    return work && this.#withWhyNot(work);
  }

  async listWork(query: BulkWorkQuery): Promise<WorkPage> {
    const { last, items, ...page } = await this.#parts.store.list(query);
    const shown = items.map((work) => this.#withWhyNot(work));
    return { ...page, items: shown, nextCursor: last === undefined ? null : encodeWorkCursor(last) };
  }

  async cancelWork(id: WorkId, by: Actor): Promise<WorkView | Refusal> {
    const outcome = await this.#parts.store.cancel(id, by);
    if (outcome.kind === "not-found") return { kind: "problem", code: "work-not-found" };
    if (outcome.kind === "found" && outcome.work.status !== "Cancelled") return { kind: "problem", code: "work-over" };
    return outcome.work;
  }

  /**
   * What an older manager cannot do waits, whichever manager is asked. A refusal as just this one is not ready has no detail, and says
   * nothing of the others.
   */
  #withWhyNot(work: WorkView): WorkView {
    const refusal = work.status === "Running" ? this.#parts.whyNot(work.act) : undefined;
    return refusal?.detail === undefined ? work : { ...work, waitsFor: refusal.detail };
  }
}
