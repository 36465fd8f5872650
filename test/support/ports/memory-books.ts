import type { MessageId, ObserverId, RunId } from "@unacked/contracts";
import type { ObserverBook } from "../../../services/observer-manager/src/domain/books/observer-book.ts";
import type {
  BooksStore,
  BooksTransaction,
  UnknownRun,
} from "../../../services/observer-manager/src/operations/books/books-store.ts";
import type { Dying } from "./dying.ts";
import { NEW, type ObserverRow, type Tables } from "./memory-tables.ts";
import { MemoryTransaction } from "./memory-transaction.ts";

const withoutMarks = (row: ObserverRow): object => {
  const { mark: _, lostRunBy: __, ...rest } = row;
  return rest;
};

type Commit = (put: () => void) => Promise<void>;

const atOnce: Commit = async (put) => put();

/**
 * The books as PostgreSQL holds them, as far as a flow can tell: a transaction works on a draft that becomes the tables when it
 * commits, and is forgotten otherwise.
 */
export class MemoryBooks implements BooksStore {
  tables: Tables = {
    observers: new Map(),
    runs: new Map(),
    services: new Map(),
    commands: new Map(),
    errors: [],
    kept: [],
    actions: [],
    unknownRuns: new Map(),
    checkpoints: new Map(),
    writes: 0,
  };

  put(observer: Partial<ObserverRow> & Pick<ObserverRow, "id">): void {
    const { id, name = `o-${id.slice(0, 8)}`, content = {} } = observer;
    const columns: ObserverBook = { ...NEW, id };
    this.tables.observers.set(id, { ...columns, mark: 0, ...observer, name, content });
  }

  async inTransaction<T>(work: (tx: BooksTransaction) => Promise<T>, commit: Commit = atOnce): Promise<T> {
    const draft = structuredClone(this.tables);
    const result = await work(new MemoryTransaction(draft));
    await commit(() => {
      this.tables = draft;
    });
    return result;
  }

  /** As a process writes them that dies at one of its calls: also between its last statement and the commit, and just behind that. */
  of(process: Dying): BooksStore {
    const { commit } = process.port({ commit: atOnce });
    const store: BooksStore = {
      inTransaction: (work) => this.inTransaction((tx) => work(process.port(tx, ["savepoint"])), commit),
      noteSignOfLife: (sign) => this.noteSignOfLife(sign),
      findMatching: () => this.findMatching(),
      sizesOf: () => this.sizesOf(),
      findUnknownRuns: (runIds) => this.findUnknownRuns(runIds),
    };
    return process.port(store, ["inTransaction"]);
  }

  /** Of one that lives, and whose next message it is. */
  async noteSignOfLife({ batch }: Parameters<BooksStore["noteSignOfLife"]>[0]): Promise<boolean> {
    const service = this.tables.services.get(batch.serviceId);
    if (service === undefined || service.state !== "Alive" || batch.seq !== service.lastSeq + 1) return false;
    service.lastSeq = batch.seq;
    return true;
  }

  async findMatching(): Promise<ObserverId[]> {
    return [...this.tables.observers.keys()].toSorted();
  }

  async sizesOf(): Promise<number[]> {
    return [];
  }

  async findUnknownRuns(runIds: RunId[]): Promise<Map<RunId, UnknownRun>> {
    return new Map([...this.tables.unknownRuns].filter(([id]) => runIds.includes(id)));
  }

  /** All that a client could ever see of them: without ids and marks that are made as the rows are written. */
  seen(): object {
    const { observers, runs, services, commands, errors, kept, actions, checkpoints } = this.tables;
    return {
      observers: [...observers.values()].map(withoutMarks),
      runs: [...runs.values()],
      services: [...services.values()],
      commands: [...commands].toSorted(([one], [other]) => one.localeCompare(other)),
      errors: errors.map(({ reason, detail, body }) => ({ reason, detail, body })),
      checkpoints: [...checkpoints],
      kept: kept.map(({ batch, observerIds }) => ({ batch, observerIds })),
      actions: actions.map(({ action: { kind, by }, count, targets }) => ({ kind, by, count, targets })),
    };
  }
}

/** A message's id that a test can foresee. */
export const messageId = (n: number): MessageId => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}` as MessageId;
