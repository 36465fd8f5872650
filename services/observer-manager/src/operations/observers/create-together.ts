import type { CreateObserver, ObserverId, ObserverView, ProblemCode } from "@unacked/contracts";
import { type Action, doneToEach } from "../access/audit.ts";
import { allInOrder } from "../all-in-order.ts";
import type { BooksTransaction, Inserted } from "../books/books-store.ts";
import type { Refusal } from "../refusal.ts";
import { type FreeByPool, lockFreeWorkers, mustFindWorker, typesToCount, wouldSuffice } from "./free-workers.ts";
import { isRepeated, type NewObserver } from "./new-observer.ts";
import type { CreateOutcome } from "./observer-tools.ts";
import type { WorkersLeft } from "./workers-left.ts";

/** One request with what was found out before the transaction. */
export interface Candidate {
  request: CreateObserver;
  observer: NewObserver;
  /** The call that it came with; several can share a transaction. */
  action: Action;
}

/** Undoes the transaction of an atomic batch and becomes its answers. */
export class RolledBack extends Error {
  readonly outcomes: CreateOutcome[];

  constructor(outcomes: CreateOutcome[]) {
    super("rolled back");
    this.outcomes = outcomes;
  }
}

type Outcomes = (CreateOutcome | undefined)[];

const problem = (code: ProblemCode): Refusal => ({ kind: "problem", code });

export interface HowToCreate {
  /** Throws RolledBack when one is refused. */
  atomic?: boolean;
  /** Why its pool does not take each, or null. Default: all are taken. */
  check?(requests: CreateObserver[]): Promise<(Refusal | null)[]>;
  /** The claim as BooksTransaction.insertObservers takes it. */
  claimId?: string | undefined;
}

/** Answers in the order of the candidates. */
export async function createTogether(
  tx: BooksTransaction,
  candidates: Candidate[],
  { atomic = false, check, claimId }: HowToCreate = {},
): Promise<CreateOutcome[]> {
  await noteWhatStartsLater(tx, candidates);
  const [free, known, wrongTypes = []] = await allInOrder([
    lockFreeWorkers(tx, typesToCount(candidates)),
    tx.viewObservers(candidates.flatMap(({ request }) => request.id ?? [])),
    check?.(candidates.map(({ request }) => request)),
  ]);
  // A repeated request finds its observer, whatever has become of types and workers since.
  const outcomes: Outcomes = candidates.map(
    ({ observer }, i) => repeated(known.get(observer.id), observer) ?? wrongTypes[i] ?? undefined,
  );
  await shareOutWorkers(tx, candidates, outcomes, free);
  if (atomic) refuseAllIfOne(outcomes);
  const accepted = candidates.filter((_, i) => outcomes[i] === undefined);
  const inserted = await tx.insertObservers(
    accepted.map(({ observer }) => observer),
    claimId,
  );
  await answerConflicts(tx, candidates, outcomes, inserted);
  if (atomic) refuseAllIfOne(outcomes);
  await tx.recordActions(doneToEach(createdOf(candidates, outcomes)));
  return outcomes as CreateOutcome[];
}

/** What starts later needs no worker now. */
async function noteWhatStartsLater(tx: BooksTransaction, candidates: Candidate[]): Promise<void> {
  const times = candidates.flatMap(({ observer }) => observer.startAt ?? []);
  if (times.length === 0) return;
  const later = await tx.laterThanNow(times);
  for (const { observer } of candidates)
    observer.startsLater = observer.startAt !== undefined && later.has(observer.startAt);
}

const createdOf = (candidates: Candidate[], outcomes: Outcomes) =>
  candidates.flatMap(({ action }, i) => {
    const outcome = outcomes[i];
    return outcome?.kind === "created" ? [{ action, observer: outcome.observer }] : [];
  });

/** First come, first served; one that cannot be created anyway takes no worker from those behind it. */
async function shareOutWorkers(
  tx: BooksTransaction,
  candidates: Candidate[],
  outcomes: Outcomes,
  free: FreeByPool,
): Promise<void> {
  const open = candidates.flatMap((candidate, i) => {
    const { id, name, type, pool, startsLater } = candidate.observer;
    return outcomes[i] || startsLater ? [] : [{ id, name, type, pool, mustFind: mustFindWorker(candidate), i }];
  });
  // Names matter here only when there are not enough workers for all: else the insert alone tells.
  const taken = wouldSuffice(free, open) ? undefined : await tx.namesTaken(open.map(({ name }) => name));
  const claimed = new Set<ObserverId>();
  for (const { id, name, type, pool, mustFind: isWanted, i } of open) {
    if (claimed.has(id)) continue; // a repetition within the batch, answered as such after the insert
    const left = free.get(pool);
    if (taken?.has(name)) outcomes[i] = problem("name-taken");
    else if (isWanted && left !== undefined && left.of(type) <= 0) outcomes[i] = noFreeWorker(pool, type, left);
    if (outcomes[i]) continue;
    claimed.add(id);
    taken?.add(name);
    left?.take(type);
  }
}

function noFreeWorker(pool: string, type: string, left: WorkersLeft): Refusal {
  if (!left.isFullFor(type)) return problem("no-free-worker");
  const detail = `No service of the pool "${pool}" that knows the type "${type}" has a free worker`;
  return { ...problem("no-free-worker"), detail };
}

/** Those that the insert left out met an observer that is there: by name, or by an id that was taken a moment ago. */
async function answerConflicts(
  tx: BooksTransaction,
  candidates: Candidate[],
  outcomes: Outcomes,
  inserted: Map<ObserverId, Inserted>,
): Promise<void> {
  const open = candidates.flatMap(({ observer }, i) => (outcomes[i] === undefined ? [{ observer, i }] : []));
  const leftOut = open.flatMap(({ observer: { id } }) => (inserted.has(id) ? [] : [id]));
  const known = leftOut.length > 0 ? await tx.viewObservers(leftOut) : new Map();
  for (const { observer, i } of open) {
    const own = inserted.get(observer.id);
    // Of two with the same id in one batch, the first is created and the second is its repetition.
    inserted.delete(observer.id);
    if (own) known.set(observer.id, own.observer);
    outcomes[i] = own ? { kind: "created", ...own } : (repeated(known.get(observer.id), observer) ?? problem("name-taken"));
  }
}

function repeated(known: ObserverView | undefined, observer: NewObserver): CreateOutcome | undefined {
  if (!known) return undefined;
  return isRepeated(observer, known) ? { kind: "exists", observer: known } : problem("id-taken");
}

/** Throws when one is refused: then the others are refused because of it, and nothing is written. */
function refuseAllIfOne(outcomes: Outcomes): void {
  if (!outcomes.some((outcome) => outcome?.kind === "problem")) return;
  throw new RolledBack(refuseTheInnocent(outcomes));
}

/** Answers an atomic batch of which some cannot be: these have their refusals, and the others batch-refused. */
export function refuseTheInnocent(outcomes: readonly unknown[]): Refusal[] {
  return outcomes.map((outcome) => (isRefusal(outcome) ? outcome : problem("batch-refused")));
}

const isRefusal = (outcome: unknown): outcome is Refusal =>
  typeof outcome === "object" && outcome !== null && "kind" in outcome && outcome.kind === "problem";
