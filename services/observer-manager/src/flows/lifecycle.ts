import type { CreateObserver, ObserverId } from "@unacked/contracts";
import { decide, type ObserverInput } from "../domain/observer-machine.ts";
import { feedObserver } from "../domain/run-events.ts";
import type { BooksStore, BooksTransaction, NewObserver } from "./books-store.ts";
import type { Lifecycle, ManagerReads, ObserverRef, Refusal } from "./manager-api.ts";
import { newObserver } from "./new-observer.ts";
import type { TypeCheck } from "./type-check.ts";

type Outcome<Kind extends string> = { kind: Kind; id: ObserverId } | Refusal;

/** Undoes the transaction and becomes the answer. */
class RolledBack extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

export interface LifecycleParts {
  store: BooksStore;
  reads: Pick<ManagerReads, "findObserver">;
  types: TypeCheck;
  /** False until the manager has once read the state queue empty: before, the books may be behind reality. */
  isReady(): boolean;
  /** Told after each commit that wrote a command. */
  committed(): void;
}

/**
 * What clients ask of an observer's life. Each call is one transaction: the observer's row and the command that says what
 * is to be sent. When it has committed, the observer is accepted; a crash before leaves nothing, one after leaves the
 * command for any dispatcher.
 */
export class ObserverLifecycle implements Lifecycle {
  readonly #parts: LifecycleParts;

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
  }

  async createObserver(request: CreateObserver): ReturnType<Lifecycle["createObserver"]> {
    if (!this.#parts.isReady()) return { kind: "problem", code: "not-ready" };
    const observer = newObserver(request);
    const wrongType = await this.#parts.types.check(request);
    const outcome = await this.#transact((tx) => insert(tx, observer, request.whenFull, wrongType));
    if (outcome.kind === "problem") return outcome;
    if (outcome.kind === "created") this.#parts.committed();
    return { kind: outcome.kind, observer: await this.#view(outcome.id) };
  }

  deleteObserver(ref: ObserverRef, options: { force: boolean }): ReturnType<Lifecycle["deleteObserver"]> {
    return this.#change(ref, options.force ? "force-delete" : "delete");
  }

  restartObserver(ref: ObserverRef): ReturnType<Lifecycle["restartObserver"]> {
    return this.#change(ref, "restart");
  }

  async #change(ref: ObserverRef, input: ObserverInput): ReturnType<Lifecycle["restartObserver"]> {
    if (!this.#parts.isReady()) return { kind: "problem", code: "not-ready" };
    const outcome = await this.#transact((tx) => change(tx, ref, input));
    if (outcome.kind === "problem") return outcome;
    this.#parts.committed();
    return { kind: "accepted", observer: await this.#view(outcome.id) };
  }

  async #view(id: ObserverId) {
    const view = await this.#parts.reads.findObserver({ kind: "id", id });
    if (!view) throw new Error(`observer ${id} was committed and is not found`);
    return view;
  }

  async #transact<T>(work: (tx: BooksTransaction) => Promise<T>): Promise<T | Refusal> {
    try {
      return await this.#parts.store.inTransaction(work);
    } catch (error) {
      if (error instanceof RolledBack) return error.refusal;
      throw error;
    }
  }
}

/** The insert comes before the count, so that a repeated POST finds its observer even when no worker is free. */
async function insert(
  tx: BooksTransaction,
  observer: NewObserver,
  whenFull: CreateObserver["whenFull"],
  wrongType: Refusal | null,
): Promise<Outcome<"created" | "exists">> {
  const mustFindWorker = whenFull === "reject";
  if (mustFindWorker) await tx.lockPool(observer.pool);
  if (!(await tx.insertObserver(observer))) return conflictOf(tx, observer);
  if (wrongType) throw new RolledBack(wrongType);
  if (mustFindWorker && (await tx.freeWorkers(observer.pool)) < 0)
    throw new RolledBack({ kind: "problem", code: "no-free-worker" });
  return { kind: "created", id: observer.id };
}

/** The insert met an observer that is there already: is it the same request again? */
async function conflictOf(tx: BooksTransaction, observer: NewObserver): Promise<Outcome<"exists">> {
  const known = await tx.requestHashOf(observer.id);
  if (known === null) return { kind: "problem", code: "name-taken" };
  return known === observer.requestHash ? { kind: "exists", id: observer.id } : { kind: "problem", code: "id-taken" };
}

async function change(tx: BooksTransaction, ref: ObserverRef, input: ObserverInput): Promise<Outcome<"accepted">> {
  const loaded = await tx.loadObserver(ref);
  const observer = loaded?.books.observers.get(loaded.id);
  if (!loaded || !observer) return { kind: "problem", code: "observer-not-found" };
  const decision = decide(observer.status, input);
  if (decision.kind === "refuse") return { kind: "problem", code: decision.problem };
  const run = observer.currentRunId === null ? undefined : loaded.books.runs.get(observer.currentRunId);
  feedObserver(loaded.books, observer, input, run);
  await tx.write(loaded.books);
  return { kind: "accepted", id: loaded.id };
}
