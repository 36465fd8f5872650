import { isDeepStrictEqual } from "node:util";
import {
  type CheckpointView,
  checkpointTag,
  type FieldProblem,
  MAX_CHECKPOINT_BYTES,
  type ObserverId,
  type ObserverView,
  type PutCheckpoint,
} from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { isMeant } from "../../domain/if-match.ts";
import { fromJsonText } from "../../domain/json-text.ts";
import { nextFencingToken } from "../../domain/observers/run-fate.ts";
import { checkParams } from "../../domain/types/params-check.ts";
import { type Action, doneTo, newAction } from "../access/audit.ts";
import type { BooksStore } from "../books/books-store.ts";
import type { Refusal } from "../refusal.ts";
import type { TypeDirectory } from "../types/type-check.ts";
import type { ObserverRef } from "./observer-tools.ts";

export interface CheckpointDeskParts {
  store: BooksStore;
  types: Pick<TypeDirectory, "liveTypes">;
  /** Undefined where there is no such observer. */
  find(ref: ObserverRef): Promise<ObserverView | undefined>;
  read(observerId: ObserverId): Promise<CheckpointView>;
  isReady(): boolean;
}

/**
 * What people do about a checkpoint. It is written with a fencing token of its own, higher than that of any run before: so it counts, and not
 * what an old run may still save. One transaction under the observer's lock; a crash before its commit leaves everything as it was.
 */
export class CheckpointDesk {
  readonly #parts: CheckpointDeskParts;

  constructor(parts: CheckpointDeskParts) {
    this.#parts = parts;
  }

  async get(ref: ObserverRef): Promise<CheckpointView | Refusal> {
    const observer = await this.#parts.find(ref);
    return observer === undefined ? NOT_FOUND : this.#parts.read(observer.id as ObserverId);
  }

  /** Problems: observer-not-found, has-run, already-deleted, checkpoint-changed, invalid-body, not-ready. */
  async put(ref: ObserverRef, { value }: PutCheckpoint, { ifMatch, by }: Asked): Promise<CheckpointView | Refusal> {
    const json = JSON.stringify(value);
    const observer = await this.#parts.find(ref);
    if (observer === undefined) return NOT_FOUND;
    const errors = await this.#flawsOf(observer, value, json);
    if (errors.length > 0) return { kind: "problem", code: "invalid-body", errors };
    const action = newAction("observer.set-checkpoint", by, { bytes: Buffer.byteLength(json) });
    return this.#write(ref, { json, ifMatch, action });
  }

  /** The next run starts without one. Safe to repeat. Problems: observer-not-found, has-run, already-deleted, checkpoint-changed, not-ready. */
  reset(ref: ObserverRef, { ifMatch, by }: Asked): Promise<CheckpointView | Refusal> {
    return this.#write(ref, { json: null, ifMatch, action: newAction("observer.reset-checkpoint", by) });
  }

  async #flawsOf({ type, pool }: ObserverView, value: unknown, json: string): Promise<FieldProblem[]> {
    const bytes = Buffer.byteLength(json);
    if (bytes > MAX_CHECKPOINT_BYTES)
      return [
        {
          pointer: "/value",
          message: `a checkpoint has at most ${MAX_CHECKPOINT_BYTES} bytes as JSON, this one has ${bytes}`,
        },
      ];
    const { types } = await this.#parts.types.liveTypes(pool);
    const known = types.filter((info) => info.type === type);
    if (known.length === 0) return [];
    const schemas = known.flatMap(({ checkpointSchema }) => checkpointSchema ?? []);
    if (schemas.length === 0) return [{ pointer: "/value", message: `runs of the type ${type} save nothing` }];
    const flaws = schemas.map((schema) => checkParams(schema as Record<string, unknown>, value));
    if (flaws.some((each) => each.length === 0)) return [];
    return (flaws[0] ?? []).map((flaw) => ({ ...flaw, pointer: (flaw.pointer ?? "").replace(/^\/params/, "/value") }));
  }

  async #write(ref: ObserverRef, { json, ifMatch, action }: Wanted): Promise<CheckpointView | Refusal> {
    const { store, isReady, read } = this.#parts;
    if (!isReady()) return { kind: "problem", code: "not-ready" };
    const written = await store.inTransaction(async (tx) => {
      const { books, ids } = await tx.loadObservers([ref]);
      const observer = ids[0] === undefined ? undefined : books.observers.get(ids[0]);
      if (observer === undefined) return NOT_FOUND;
      if (observer.status === "Deleted") return { kind: "problem", code: "already-deleted" } as const;
      if (observer.currentRunId !== null || observer.requestedRunId !== null) return HAS_RUN;
      if (ifMatch !== undefined) {
        const now = await tx.readCheckpoint(observer.id);
        if (!isMeant(ifMatch, checkpointTag(now))) return isSo(now, json) ? observer.id : changedMeanwhile(now);
      }
      observer.fencingToken = nextFencingToken(observer);
      books.changedObservers.add(observer);
      await tx.write(books);
      await tx.setCheckpoint(observer.id, observer.fencingToken, json);
      const views = await tx.viewObservers([observer.id]);
      await tx.recordActions([doneTo(action, [...views.values()])]);
      return observer.id;
    });
    return typeof written === "string" ? read(written) : written;
  }
}

/** Who asks, and which checkpoint he has read; undefined: whichever there is. */
interface Asked {
  ifMatch: string | undefined;
  by: Actor;
}

interface Wanted extends Pick<Asked, "ifMatch"> {
  /** Null: none. */
  json: string | null;
  action: Action;
}

/** Whether it is as asked already: somebody whom no answer has reached may ask again. */
const isSo = ({ number, value }: CheckpointView, json: string | null): boolean =>
  json === null ? number === 0 : number > 0 && isDeepStrictEqual(value, fromJsonText(json));

const changedMeanwhile = ({ number, savedAt }: CheckpointView): Refusal => ({
  kind: "problem",
  code: "checkpoint-changed",
  detail: `${number === 0 ? "There is none now: it was reset" : `It is number ${number} now, saved`} at ${savedAt}`,
});

/** What REST asks of checkpoints. */
export type CheckpointTools = Pick<CheckpointDesk, "get" | "put" | "reset">;

const NOT_FOUND: Refusal = { kind: "problem", code: "observer-not-found" };
const HAS_RUN: Refusal = { kind: "problem", code: "has-run" };
