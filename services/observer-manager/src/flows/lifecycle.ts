import type { CreateObserver, ObserverId } from "@unacked/contracts";
import { feedObserver } from "../domain/feed-observer.ts";
import { decide, type ObserverInput } from "../domain/observer-machine.ts";
import type { BooksStore, BooksTransaction } from "./books-store.ts";
import { Creation } from "./creation.ts";
import type { Lifecycle, ManagerReads, ObserverRef, Refusal } from "./manager-api.ts";
import type { TypeCheck } from "./type-check.ts";

type ChangeOutcome = { kind: "accepted"; id: ObserverId } | Refusal;

export interface LifecycleParts {
  store: BooksStore;
  reads: Pick<ManagerReads, "findObserver">;
  types: TypeCheck;
  /** False until the manager has once read the state queue empty: before, the books may be behind reality. */
  isReady(): boolean;
  /** Told after each commit that wrote a command. */
  committed(): void;
}

const NOT_READY: Refusal = { kind: "problem", code: "not-ready" };

/**
 * What clients ask of an observer's life. Each call is one transaction: the observer's row and the command that says what
 * is to be sent. When it has committed, it is accepted; a crash before leaves nothing, one after leaves the command for
 * any dispatcher.
 */
export class ObserverLifecycle implements Lifecycle {
  readonly #parts: LifecycleParts;
  readonly #creation: Creation;

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
    this.#creation = new Creation(parts.store, parts.types, parts.committed);
  }

  async createObserver(request: CreateObserver): ReturnType<Lifecycle["createObserver"]> {
    if (!this.#parts.isReady()) return NOT_READY;
    const [outcome] = await this.#creation.create([request]);
    return outcome ?? NOT_READY;
  }

  async createObservers(requests: CreateObserver[], options: { atomic: boolean }): ReturnType<Lifecycle["createObservers"]> {
    if (!this.#parts.isReady()) return NOT_READY;
    return this.#creation.create(requests, options);
  }

  deleteObserver(ref: ObserverRef, options: { force: boolean }): ReturnType<Lifecycle["deleteObserver"]> {
    return this.#change(ref, options.force ? "force-delete" : "delete");
  }

  restartObserver(ref: ObserverRef): ReturnType<Lifecycle["restartObserver"]> {
    return this.#change(ref, "restart");
  }

  async #change(ref: ObserverRef, input: ObserverInput): ReturnType<Lifecycle["restartObserver"]> {
    if (!this.#parts.isReady()) return NOT_READY;
    const outcome = await this.#parts.store.inTransaction((tx) => change(tx, ref, input));
    if (outcome.kind === "problem") return outcome;
    this.#parts.committed();
    const observer = await this.#parts.reads.findObserver({ kind: "id", id: outcome.id });
    if (!observer) throw new Error(`observer ${outcome.id} was committed and is not found`);
    return { kind: "accepted", observer };
  }
}

async function change(tx: BooksTransaction, ref: ObserverRef, input: ObserverInput): Promise<ChangeOutcome> {
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
