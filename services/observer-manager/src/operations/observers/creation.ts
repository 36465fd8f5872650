import type { CreateObserver } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { newAction } from "../access/audit.ts";
import { type BooksStore, type BooksTransaction, RefusedByDatabase } from "../books/books-store.ts";
import { type OwnStart, type OwnStarts, startOf } from "../commands/own-starts.ts";
import type { Refusal } from "../refusal.ts";
import { sizeOfParams, Together } from "../together.ts";
import type { TypeCheck } from "../types/type-check.ts";
import { createAsHoped, mayHopeFor, NotAsHoped } from "./create-as-hoped.ts";
import { type Candidate, createTogether, type HowToCreate, RolledBack } from "./create-together.ts";
import { newObserver } from "./new-observer.ts";
import type { CreateOutcome } from "./observer-tools.ts";

/** Requests that are answered together. */
interface Submission {
  candidates: Candidate[];
  atomic: boolean;
}

/** How many single requests share a transaction when many arrive at once; fewer where their params are long. */
const MAX_TOGETHER = 1_000;

/**
 * So many transactions look first after one in vain: who sends what cannot be created mostly sends more of it, and each in vain would cost
 * two.
 */
const LOOKS_AFTER_ONE_IN_VAIN = 20;

const UNSTORABLE: Refusal = { kind: "problem", code: "invalid-body", detail: "It holds a value that the database refuses." };
const INTERRUPTED: Refusal = { kind: "problem", code: "batch-interrupted" };

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
  readonly #starts: OwnStarts;
  readonly #together: Together<Submission, CreateOutcome[]>;
  /** So many transactions look first, before they write. */
  #lookingFirst = 0;

  /** @param committed told after each commit that wrote a command which is due */
  constructor(store: BooksStore, types: TypeCheck, committed: () => void, starts: OwnStarts) {
    this.#store = store;
    this.#types = types;
    this.#committed = committed;
    this.#starts = starts;
    this.#together = new Together({
      maxSize: MAX_TOGETHER,
      sizeOf: ({ candidates: all }) => (all.length >= MAX_TOGETHER ? all.length : sizeOfAll(all)),
      isAlone: ({ atomic }) => atomic,
      run: (submissions) => this.#answer(submissions),
    });
  }

  /** Answers in the order of the requests. `atomic`: all are created, or none. */
  async create(requests: CreateObserver[], by: Actor, { atomic = false } = {}): Promise<CreateOutcome[]> {
    const action = newAction("observer.create", by);
    const candidates = requests.map(
      (request): Candidate => ({ request, observer: newObserver(request, by.traceContext), action }),
    );
    return this.#together.do({ candidates, atomic });
  }

  async #answer(submissions: Submission[]): Promise<CreateOutcome[][]> {
    const [first] = submissions;
    try {
      const outcomes = await this.#transact(
        submissions.flatMap(({ candidates }) => candidates),
        first?.atomic ?? false,
      );
      let next = 0;
      return submissions.map(({ candidates }) => outcomes.slice(next, (next += candidates.length)));
    } catch (error) {
      if (!(error instanceof RefusedByDatabase) || first === undefined || submissions.length > 1) throw error;
      return [await this.#sift(first)];
    }
  }

  async #transact(candidates: Candidate[], atomic: boolean): Promise<CreateOutcome[]> {
    const size = sizeOfAll(candidates);
    const claimId = this.#starts.claim(candidates.length, size);
    try {
      const outcomes = await this.#write(candidates, { atomic, claimId }, size);
      this.#sendStarts(candidates, outcomes);
      return outcomes;
    } catch (error) {
      if (error instanceof RolledBack) return error.outcomes;
      throw error;
    }
  }

  /** Writes at first as if nothing stood in the way of any; but not while somebody sends much that cannot be. */
  async #write(candidates: Candidate[], how: HowToCreate, size: number): Promise<CreateOutcome[]> {
    const asking = (create: (...asked: [BooksTransaction, Candidate[], HowToCreate]) => Promise<CreateOutcome[]>) =>
      this.#store.inTransaction((tx) => {
        const check = (requests: CreateObserver[]) => this.#types.check(requests, tx.types);
        return create(tx, candidates, { ...how, check });
      });
    if (this.#lookingFirst > 0) this.#lookingFirst -= 1;
    else if (mayHopeFor(candidates, size)) {
      try {
        return await asking(createAsHoped);
      } catch (error) {
        if (!(error instanceof NotAsHoped)) throw error;
        this.#lookingFirst = LOOKS_AFTER_ONE_IN_VAIN;
      }
    }
    return asking(createTogether);
  }

  #sendStarts(candidates: Candidate[], outcomes: CreateOutcome[]): void {
    const claimed: OwnStart[] = [];
    let isDue = false;
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.kind !== "created") continue;
      const { claimedStart: id, observer } = outcome;
      if (id === undefined) isDue = true;
      else claimed.push({ id, start: startOf(observer), traceContext: candidates[i]?.observer.traceContext ?? null });
    }
    if (claimed.length > 0) this.#starts.send(claimed);
    if (isDue) this.#committed();
  }

  /**
   * A value that PostgreSQL refuses must not cost its neighbours: the batch is halved until it is found. When the database
   * goes away meanwhile, what has been created is answered so.
   */
  async #sift({ candidates, atomic }: Submission): Promise<CreateOutcome[]> {
    if (atomic) return candidates.map(() => UNSTORABLE);
    const outcomes: CreateOutcome[] = [];
    const parts = halves(candidates);
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      try {
        outcomes.push(...(part.length === 0 ? [] : await this.#transact(part, false)));
      } catch (error) {
        if (error instanceof RefusedByDatabase && part.length > 1) parts.unshift(...halves(part));
        else if (error instanceof RefusedByDatabase) outcomes.push(UNSTORABLE);
        else if (outcomes.some((outcome) => outcome.kind === "created"))
          return [...outcomes, ...[part, ...parts].flat().map(() => INTERRUPTED)];
        else throw error;
      }
    }
    return outcomes;
  }
}

const sizeOfAll = (candidates: Candidate[]): number =>
  candidates.reduce((sum, { observer }) => sum + sizeOfParams(observer.params), 0);

const halves = <T>(items: T[]): T[][] => [items.slice(0, items.length >> 1), items.slice(items.length >> 1)];
