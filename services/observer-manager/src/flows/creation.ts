import type { CreateObserver, ObserverId, ObserverView, ProblemCode } from "@unacked/contracts";
import { type BooksStore, type BooksTransaction, type NewObserver, RefusedByDatabase } from "./books-store.ts";
import type { CreateOutcome, Refusal } from "./manager-api.ts";
import { newObserver } from "./new-observer.ts";
import type { TypeCheck } from "./type-check.ts";

/** One request with what was found out before the transaction. */
interface Candidate {
  request: CreateObserver;
  observer: NewObserver;
  wrongType: Refusal | null;
}

/** Requests that are answered together, waiting for their turn. */
interface Submission {
  candidates: Candidate[];
  atomic: boolean;
  resolve(outcomes: CreateOutcome[]): void;
  reject(error: unknown): void;
}

/** How many single requests share a transaction when many arrive at once. */
const MAX_TOGETHER = 1_000;

/** Undoes an atomic submission's transaction and becomes its answers. */
class RolledBack extends Error {
  readonly outcomes: CreateOutcome[];

  constructor(outcomes: CreateOutcome[]) {
    super("rolled back");
    this.outcomes = outcomes;
  }
}

/**
 * What comes in: requests for observers, already valid. It guarantees: each that is answered "created" stands in the books
 * together with the command that starts it. Requests that arrive while a transaction is under way share the next one, so
 * that a thousand clients do not wait for a thousand commits. A crash before the commit leaves nothing; after it, the
 * command for any dispatcher.
 */
export class Creation {
  readonly #store: BooksStore;
  readonly #types: TypeCheck;
  readonly #committed: () => void;
  #waiting: Submission[] = [];
  #isBusy = false;

  /** @param committed told after each commit that wrote a command */
  constructor(store: BooksStore, types: TypeCheck, committed: () => void) {
    this.#store = store;
    this.#types = types;
    this.#committed = committed;
  }

  /** Answers in the order of the requests. `atomic`: all are created, or none. */
  async create(requests: CreateObserver[], { atomic = false } = {}): Promise<CreateOutcome[]> {
    const wrongTypes = await this.#types.check(requests);
    const candidates = requests.map(
      (request, i): Candidate => ({ request, observer: newObserver(request), wrongType: wrongTypes[i] ?? null }),
    );
    return new Promise((resolve, reject) => {
      this.#waiting.push({ candidates, atomic, resolve, reject });
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) await this.#transact(this.#takeTogether());
    this.#isBusy = false;
  }

  /** An atomic submission goes alone; others as many as fit. */
  #takeTogether(): Submission[] {
    const first = this.#waiting.shift() as Submission;
    const together = [first];
    let size = first.candidates.length;
    while (
      !first.atomic &&
      this.#waiting[0] &&
      !this.#waiting[0].atomic &&
      size + this.#waiting[0].candidates.length <= MAX_TOGETHER
    ) {
      const next = this.#waiting.shift() as Submission;
      together.push(next);
      size += next.candidates.length;
    }
    return together;
  }

  async #transact(submissions: Submission[]): Promise<void> {
    const candidates = submissions.flatMap((submission) => submission.candidates);
    const atomic = submissions[0]?.atomic ?? false;
    try {
      const outcomes = await this.#store.inTransaction((tx) => createAll(tx, candidates, atomic));
      let next = 0;
      for (const submission of submissions) submission.resolve(outcomes.slice(next, (next += submission.candidates.length)));
      if (outcomes.some((outcome) => outcome.kind === "created")) this.#committed();
    } catch (error) {
      if (error instanceof RolledBack) return submissions[0]?.resolve(error.outcomes);
      // One request with a value that PostgreSQL refuses must not cost its neighbours.
      if (error instanceof RefusedByDatabase && submissions.length > 1)
        for (const submission of submissions) await this.#transact([submission]);
      else for (const submission of submissions) submission.reject(error);
    }
  }
}

const problem = (code: ProblemCode): Refusal => ({ kind: "problem", code });

async function createAll(tx: BooksTransaction, candidates: Candidate[], atomic: boolean): Promise<CreateOutcome[]> {
  const mustFindWorker = candidates.filter(({ request }) => request.whenFull === "reject");
  const pools = [...new Set(mustFindWorker.map(({ observer }) => observer.pool))].toSorted();
  for (const pool of pools) await tx.lockPool(pool);
  const outcomes = new Array<CreateOutcome | undefined>(candidates.length);
  const known = await tx.findRequests(candidates.flatMap(({ request }) => request.id ?? []));
  const free = new Map<string, number>();
  for (const pool of pools) free.set(pool, await tx.freeWorkers(pool));

  candidates.forEach(({ request, observer, wrongType }, i) => {
    // A repeated request finds its observer, whatever has become of types and workers since.
    outcomes[i] = repeated(known.get(observer.id), observer) ?? wrongType ?? undefined;
    if (outcomes[i]) return;
    const left = free.get(observer.pool) ?? 0;
    if (request.whenFull === "reject" && left <= 0) outcomes[i] = problem("no-free-worker");
    else free.set(observer.pool, left - 1);
  });
  if (atomic) refuseAllIfOne(outcomes);
  const accepted = candidates.filter((_, i) => outcomes[i] === undefined);
  const created = await tx.insertObservers(accepted.map(({ observer }) => observer));
  await answerConflicts(tx, candidates, outcomes, created);
  if (atomic) refuseAllIfOne(outcomes);
  return outcomes as CreateOutcome[];
}

/** Those that the insert left out met an observer that is there: by name, or by an id that was taken a moment ago. */
async function answerConflicts(
  tx: BooksTransaction,
  candidates: Candidate[],
  outcomes: (CreateOutcome | undefined)[],
  created: Map<ObserverId, ObserverView>,
): Promise<void> {
  const open = candidates.flatMap((candidate, i) => (outcomes[i] === undefined ? [{ ...candidate.observer, i }] : []));
  const leftOut = open.filter(({ id }) => !created.has(id));
  const known = leftOut.length > 0 ? await tx.findRequests(leftOut.map(({ id }) => id)) : new Map();
  for (const observer of open) {
    const view = created.get(observer.id);
    // Of two with the same id in one batch, the first is created and the second is its repetition.
    created.delete(observer.id);
    if (view) known.set(observer.id, { requestHash: observer.requestHash, view });
    outcomes[observer.i] = view
      ? { kind: "created", observer: view }
      : (repeated(known.get(observer.id), observer) ?? problem("name-taken"));
  }
}

function repeated(
  known: { requestHash: string; view: ObserverView } | undefined,
  observer: NewObserver,
): CreateOutcome | undefined {
  if (!known) return undefined;
  return known.requestHash === observer.requestHash ? { kind: "exists", observer: known.view } : problem("id-taken");
}

/** Throws when one is refused: then the others are refused because of it, and nothing is written. */
function refuseAllIfOne(outcomes: (CreateOutcome | undefined)[]): void {
  if (!outcomes.some((outcome) => outcome?.kind === "problem")) return;
  throw new RolledBack(outcomes.map((outcome) => (outcome?.kind === "problem" ? outcome : problem("batch-refused"))));
}
