import {
  type ChangeObserver,
  type CreateObserver,
  type ObserverSpec,
  type ObserverView,
  OCCUPYING_STATUSES,
  type SpecField,
  specOf,
  specTag,
  type WhenFull,
} from "@unacked/contracts";
import type { AuditedActor } from "../../domain/access/identity.ts";
import type { Books } from "../../domain/books/books.ts";
import type { ObserverBook } from "../../domain/books/observer-book.ts";
import { isMeant } from "../../domain/if-match.ts";
import { applyInput } from "../../domain/observers/observer-input.ts";
import { decide } from "../../domain/observers/observer-machine.ts";
import {
  differencesOf,
  inputOf,
  type KnowsUpdates,
  raiseSpecVersion,
  type SpecDifference,
} from "../../domain/observers/spec-change.ts";
import { doneTo, newAction } from "../access/audit.ts";
import type { BooksTransaction } from "../books/books-store.ts";
import type { Refusal } from "../refusal.ts";
import { lockFreeWorkers } from "./free-workers.ts";
import type { SpecChanged, SpecRequest } from "./observer-tools.ts";

/** What has to be looked up outside of the transaction: its row would be locked for as long. */
export interface Unchecked {
  kind: "unchecked";
  asIf: CreateObserver;
}

export interface SpecUpdate extends SpecRequest {
  /** All managers know what a run answers when it is told. */
  mayTell: boolean;
}

/**
 * Compares, decides and writes in one transaction, with the row locked: the spec, its version, and the order to the run, or the stop where a handler has to be
 * started anew. A crash before the commit leaves nothing; one after it that row, for any dispatcher
 * (docs/decisions/0019-changed-observers.md, 0022-hot-update.md).
 * @param checked what its type and params were found good for
 */
export async function updateSpec(
  tx: BooksTransaction,
  request: SpecUpdate,
  by: AuditedActor,
  checked?: CreateObserver,
): Promise<SpecChanged | Unchecked | Refusal> {
  const { books, ids } = await tx.loadObservers([request.ref]);
  const observer = ids[0] === undefined ? undefined : books.observers.get(ids[0]);
  const view = observer && (await tx.viewObservers([observer.id])).get(observer.id);
  if (observer === undefined || view === undefined) return problem("observer-not-found");
  const refusal = whyNot(observer, view, request);
  if (refusal !== undefined) return refusal;
  const differences = differencesOf(view, request.change);
  if (differences.length === 0) return { kind: "unchanged", observer: view, changed: [] };
  if (!isMeant(request.ifMatch, specTag(view))) return changedMeanwhile(view, differences);
  const fields = differences.map(({ field }) => field);
  const spec = { ...view, ...given(request.change) } as ObserverView & ObserverSpec;
  const moves = isMoved(observer, spec.pool);
  if (fields.includes("params") || fields.includes("pool")) {
    // An observer that has a place keeps it, whether somebody serves its pool just now or not.
    const asIf = asCreate(spec, moves ? request.whenFull : "queue");
    if (!isChecked(asIf, checked)) return { kind: "unchecked", asIf };
  }
  if (moves && request.whenFull === "reject" && !(await hasRoom(tx, spec))) return problem("no-free-worker");
  if (request.dryRun) return { kind: "changed", observer: view, changed: differences };
  const knows = await knowsOf(tx, { books, observer }, request);
  const input = inputOf(fields, knows);
  return { kind: "changed", observer: await write(tx, { books, observer, spec, fields, input, by }), changed: differences };
}

/** Why it cannot be changed, by how it stands and what it is; undefined: it can. */
function whyNot(observer: ObserverBook, view: ObserverView, { type }: SpecRequest): Refusal | undefined {
  const decision = decide(observer.status, "update", observer.pending);
  if (decision.kind === "refuse") return problem(decision.problem);
  return type !== undefined && type !== view.type ? otherType(view, type) : undefined;
}

interface Decided {
  books: Books;
  observer: ObserverBook;
  spec: ObserverSpec;
  fields: SpecField[];
  input: ReturnType<typeof inputOf>;
  by: AuditedActor;
}

/** What the service of its run can be told; undefined: nothing runs. */
async function knowsOf(
  tx: BooksTransaction,
  { books, observer }: Pick<Decided, "books" | "observer">,
  { mayTell }: Pick<SpecUpdate, "mayTell">,
): Promise<KnowsUpdates | undefined> {
  if (!mayTell) return { word: false, onUpdate: false };
  const run = observer.currentRunId === null ? undefined : books.runs.get(observer.currentRunId);
  return run && tx.knowsUpdates(run.serviceId, observer.type);
}

/** @returns the observer as this leaves it */
async function write(tx: BooksTransaction, { books, observer, spec, fields, input, by }: Decided): Promise<ObserverView> {
  books.traceContext = by.traceContext;
  const run = observer.currentRunId === null ? undefined : books.runs.get(observer.currentRunId);
  raiseSpecVersion(observer, { run, fields, pool: spec.pool, hasMessage: hasMessage(observer) });
  books.changedObservers.add(observer);
  if (input !== undefined) applyInput(books, observer, input, run);
  await tx.writeSpec(observer.id, spec);
  await tx.write(books);
  const { specVersion } = observer;
  const now = (await tx.viewObservers([observer.id])).get(observer.id) as ObserverView;
  await tx.recordActions([doneTo(newAction("observer.change", by, { fields, specVersion }), [now])]);
  return now;
}

const problem = (code: Refusal["code"]): Refusal => ({ kind: "problem", code });

function otherType({ name, type }: ObserverView, wanted: string): Refusal {
  return { ...problem("other-type"), detail: `The observer "${name}" is of the type "${type}", not "${wanted}"` };
}

const given = (change: ChangeObserver): Partial<ObserverSpec> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));

const hasMessage = ({ status }: ObserverBook): boolean => OCCUPYING_STATUSES.includes(status);

const isMoved = (observer: ObserverBook, pool: string): boolean => hasMessage(observer) && observer.pool !== pool;

function changedMeanwhile(view: ObserverView, differences: SpecDifference[]): Refusal {
  return {
    ...problem("spec-changed"),
    detail: `Its specVersion is ${view.specVersion} now, and these fields of what was given differ: ${differences.map(({ field }) => field).join(", ")}`,
    specVersion: view.specVersion,
    differs: differences.map(({ field, is, wanted }) => ({ field, now: is, given: wanted })),
  };
}

const asCreate = (spec: ObserverView & ObserverSpec, whenFull: WhenFull) =>
  ({ name: spec.name, type: spec.type, ...specOf(spec), whenFull }) as CreateObserver;

const isChecked = ({ params, pool, whenFull }: CreateObserver, checked: CreateObserver | undefined): boolean =>
  checked?.pool === pool && checked.whenFull === whenFull && JSON.stringify(checked.params) === JSON.stringify(params);

/** Its pool is locked after its row, as by whoever resumes observers (room.ts), so that none of two waits for the other. */
async function hasRoom(tx: BooksTransaction, { pool, type }: { pool: string; type: string }): Promise<boolean> {
  const free = await lockFreeWorkers(tx, new Map([[pool, new Set([type])]]));
  return (free.get(pool)?.of(type) ?? 0) > 0;
}
