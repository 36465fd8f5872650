import { type CreateObserver, type PutObserver, specOf } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import type { BooksStore } from "../books/books-store.ts";
import type { Refusal } from "../refusal.ts";
import type { TypeCheck } from "../types/type-check.ts";
import type { Creation } from "./creation.ts";
import type { ObserverRef, PutOutcome, SpecChanged, SpecRequest } from "./observer-tools.ts";
import { updateSpec } from "./spec-update.ts";

export interface SpecDeskParts {
  store: BooksStore;
  types: TypeCheck;
  creation: Creation;
  /** Whether all managers know what a run answers when it is told what is wanted of it. */
  mayTell(): boolean;
  /** Told after each commit that wrote a command. */
  committed(): void;
}

/** Somebody else may be in between so often. */
const MAX_TRIES = 5;

const BUSY: Refusal = {
  kind: "problem",
  code: "not-ready",
  detail: "Others keep changing the observer; try again",
};

/**
 * Comes in: what is wanted of an observer. Guarantees: params are held against the type before anything is stopped; what was compared
 * is what is changed, as the row is locked; a definition is created or changed, whoever does the same at that moment.
 */
export class SpecDesk {
  readonly #parts: SpecDeskParts;

  constructor(parts: SpecDeskParts) {
    this.#parts = parts;
  }

  async change(request: SpecRequest, by: Actor): Promise<SpecChanged | Refusal> {
    const { store, types, mayTell, committed } = this.#parts;
    let checked: CreateObserver | undefined;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const outcome = await store.inTransaction((tx) => updateSpec(tx, { ...request, mayTell: mayTell() }, by, checked));
      if (outcome.kind === "changed" && !request.dryRun) committed();
      if (outcome.kind !== "unchecked") return outcome;
      const [refusal] = await types.check([outcome.asIf]);
      if (refusal) return refusal;
      checked = outcome.asIf;
    }
    return BUSY;
  }

  async put(
    ref: ObserverRef,
    definition: PutObserver,
    { ifMatch }: Pick<SpecRequest, "ifMatch">,
    by: Actor,
  ): Promise<PutOutcome> {
    const { type, whenFull, name } = definition;
    const change = specOf(definition);
    if (name !== undefined && ref.kind === "name" && name !== ref.name) return otherName(ref.name);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const changed = await this.change({ ref, change, type, whenFull, ifMatch, dryRun: false }, by);
      if (!isMissing(changed, ref) || ref.kind === "id") return changed;
      if (ifMatch !== undefined) return { kind: "problem", code: "spec-changed", detail: "There is no such observer" };
      const created = await this.#create({ ...definition, name: ref.name as CreateObserver["name"] }, by);
      if (created.kind !== "problem" || created.code !== "name-taken") return created;
    }
    return BUSY;
  }

  async #create(request: CreateObserver, by: Actor): Promise<PutOutcome> {
    const [outcome] = await this.#parts.creation.create([request], by);
    if (outcome === undefined) return BUSY;
    return outcome.kind === "problem" ? outcome : { kind: "created", observer: outcome.observer, changed: [] };
  }
}

/** One that is deleted has left its name to the next. */
const isMissing = (outcome: SpecChanged | Refusal, { kind }: ObserverRef): boolean =>
  outcome.kind === "problem" &&
  (outcome.code === "observer-not-found" || (kind === "name" && outcome.code === "already-deleted"));

function otherName(name: string): Refusal {
  const errors = [{ pointer: "/name", message: `must be the name in the path: "${name}"` }];
  return { kind: "problem", code: "invalid-body", errors };
}
