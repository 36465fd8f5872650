import type { CreateObserver, ObserverFilter, WhenFull } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import type { ObserverInput } from "../../domain/observers/observer-machine.ts";
import { type Action, newAction } from "../access/audit.ts";
import type { BooksStore } from "../books/books-store.ts";
import type { OwnStarts } from "../commands/own-starts.ts";
import { notKnownByAll } from "../features/not-known-by-all.ts";
import type { Log } from "../log.ts";
import type { Refusal } from "../refusal.ts";
import type { TypeCheck } from "../types/type-check.ts";
import { Bulk } from "./bulk.ts";
import { refuseTheInnocent } from "./create-together.ts";
import { Creation } from "./creation.ts";
import { changeObservers } from "./observer-change.ts";
import type { BulkChange, ChangeOutcome, CreateOutcome, Lifecycle, ObserverRef, PutOutcome } from "./observer-tools.ts";
import { SpecDesk } from "./spec-desk.ts";

export interface LifecycleParts {
  store: BooksStore;
  types: TypeCheck;
  /** False until the manager has once read the state queue empty: before, the books may be behind reality. */
  isReady(): boolean;
  /** Whether all managers know what Paused is. */
  mayPause(): boolean;
  /** Whether all managers know what an update is. */
  mayUpdate(): boolean;
  /** Whether all managers know what a run answers when it is told what is wanted of it. */
  mayTell(): boolean;
  /** Whether all managers know what Scheduled is. */
  maySchedule(): boolean;
  /** Told after each commit that wrote a command. */
  committed(): void;
  ownStarts: OwnStarts;
  log: Log;
}

const NOT_READY: Refusal = { kind: "problem", code: "not-ready" };
const MAY_NOT_PAUSE = notKnownByAll("can pause");
const MAY_NOT_SCHEDULE = notKnownByAll("can start observers at a time");
const MAY_NOT_UPDATE = notKnownByAll("can change observers");
/**
 * What clients ask of an observer's life. Each call is one transaction: the observer's row and the command that says what
 * is to be sent. When it has committed, it is accepted, and the answer needs nothing more of the database; a crash before
 * leaves nothing, one after leaves the command for any dispatcher.
 */
export class ObserverLifecycle implements Lifecycle {
  readonly #parts: LifecycleParts;
  readonly #creation: Creation;
  readonly #bulk: Bulk;
  readonly #specs: SpecDesk;

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
    this.#creation = new Creation(parts.store, parts.types, parts.committed, parts.ownStarts);
    this.#bulk = new Bulk(parts);
    this.#specs = new SpecDesk({ ...parts, creation: this.#creation });
  }

  async createObserver(request: CreateObserver, by: Actor): ReturnType<Lifecycle["createObserver"]> {
    const refusal = this.#whyNotCreate([request]);
    if (refusal !== undefined) return refusal;
    const [outcome] = await this.#creation.create([request], by);
    return outcome ?? NOT_READY;
  }

  async createObservers(
    requests: (CreateObserver | Refusal)[],
    options: { atomic: boolean },
    by: Actor,
  ): ReturnType<Lifecycle["createObservers"]> {
    const refusal = this.#whyNotCreate(requests);
    if (refusal !== undefined) return refusal;
    const good = requests.flatMap((request) => ("kind" in request ? [] : [request]));
    if (options.atomic && good.length < requests.length) return refuseTheInnocent(requests);
    const outcomes = good.length === 0 ? [] : await this.#creation.create(good, by, options);
    let next = 0;
    return requests.map((request) => ("kind" in request ? request : (outcomes[next++] as CreateOutcome)));
  }

  async changeSpec(request: Parameters<Lifecycle["changeSpec"]>[0], by: Actor): ReturnType<Lifecycle["changeSpec"]> {
    return this.#whyNotUpdate() ?? this.#specs.change(request, by);
  }

  async putObserver(...[ref, definition, options, by]: Parameters<Lifecycle["putObserver"]>): Promise<PutOutcome> {
    return this.#whyNotCreate([definition]) ?? this.#whyNotUpdate() ?? this.#specs.put(ref, definition, options, by);
  }

  deleteObserver(ref: ObserverRef, { force }: { force: boolean }, by: Actor): Promise<ChangeOutcome> {
    return this.#change(
      ref,
      force ? "force-delete" : "delete",
      newAction("observer.stop", by, { force: force || undefined }),
    );
  }

  restartObserver(ref: ObserverRef, by: Actor): Promise<ChangeOutcome> {
    return this.#change(ref, "restart", newAction("observer.restart", by));
  }

  async pauseObserver(ref: ObserverRef, by: Actor): Promise<ChangeOutcome> {
    return this.whyNot("pause") ?? this.#change(ref, "pause", newAction("observer.pause", by));
  }

  resumeObserver(ref: ObserverRef, { whenFull }: { whenFull: WhenFull }, by: Actor): Promise<ChangeOutcome> {
    return this.#change(ref, "resume", newAction("observer.resume", by), whenFull === "reject");
  }

  async changeObservers(
    ...[refs, among, change, by]: Parameters<Lifecycle["changeObservers"]>
  ): ReturnType<Lifecycle["changeObservers"]> {
    return this.whyNot(change.kind) ?? this.#bulk.changeObservers(refs, among, change, by);
  }

  async changeMatching(filter: ObserverFilter, change: BulkChange, by: Actor): ReturnType<Lifecycle["changeMatching"]> {
    return this.whyNot(change.kind) ?? this.#bulk.changeMatching(filter, change, by);
  }

  #whyNotCreate(requests: readonly (Pick<CreateObserver, "startAt"> | Refusal)[]): Refusal | undefined {
    if (!this.#parts.isReady()) return NOT_READY;
    const hasTime = requests.some((one) => "startAt" in one && one.startAt !== undefined);
    return hasTime && !this.#parts.maySchedule() ? MAY_NOT_SCHEDULE : undefined;
  }

  #whyNotUpdate(): Refusal | undefined {
    const { isReady, mayUpdate } = this.#parts;
    if (!isReady()) return NOT_READY;
    return mayUpdate() ? undefined : MAY_NOT_UPDATE;
  }

  /** Why nobody can ask that of an observer now. */
  whyNot(kind: BulkChange["kind"]): Refusal | undefined {
    const { isReady, mayPause } = this.#parts;
    if (!isReady()) return NOT_READY;
    return kind === "pause" && !mayPause() ? MAY_NOT_PAUSE : undefined;
  }

  async #change(ref: ObserverRef, input: ObserverInput, action: Action, mustFindWorker = false): Promise<ChangeOutcome> {
    if (!this.#parts.isReady()) return NOT_READY;
    const [outcome] = await this.#parts.store.inTransaction((tx) =>
      changeObservers(tx, [ref], input, action, { mustFindWorker }),
    );
    if (outcome?.kind === "accepted") this.#parts.committed();
    return outcome ?? NOT_READY;
  }
}
