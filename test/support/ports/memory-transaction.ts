import type { ObserverId, ObserverSpec, ObserverView } from "@unacked/contracts";
import { Books } from "../../../services/observer-manager/src/domain/books/books.ts";
import { type Command, keyText } from "../../../services/observer-manager/src/domain/books/command.ts";
import { InventoryParts } from "../../../services/observer-manager/src/domain/books/inventory-parts.ts";
import type { ActionDone } from "../../../services/observer-manager/src/operations/access/audit.ts";
import {
  type BooksTransaction,
  type Inserted,
  type KeptEvent,
  type NewError,
  RefusedByDatabase,
} from "../../../services/observer-manager/src/operations/books/books-store.ts";
import type { NewObserver } from "../../../services/observer-manager/src/operations/observers/new-observer.ts";
import { NEW, type ObserverRow, type Tables } from "./memory-tables.ts";

/** A transaction on a draft of the tables. Every row is loaded, which is more than is asked for and never less. */
export class MemoryTransaction implements BooksTransaction {
  readonly #tables: Tables;
  readonly types = {
    liveTypes: async () => ({ services: 0, types: [], withoutAdmission: [] }),
    livePools: async () => [],
  };

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  async loadFor(...[, inventories]: Parameters<BooksTransaction["loadFor"]>): Promise<Books> {
    return this.#load([...this.#tables.observers.keys()], inventories);
  }

  async loadObservers(
    refs: Parameters<BooksTransaction["loadObservers"]>[0],
  ): ReturnType<BooksTransaction["loadObservers"]> {
    const rows = [...this.#tables.observers.values()];
    const ids = refs.map((ref) => (ref.kind === "id" ? ref.id : rows.find(({ name }) => name === ref.name)?.id));
    return { books: this.#load(ids.flatMap((id) => id ?? [])), ids };
  }

  async loadUnchanged(ids: ObserverId[], marks: ReadonlyMap<string, string>): Promise<Books> {
    return this.#load(ids.filter((id) => String(this.#tables.observers.get(id)?.mark) === marks.get(id)));
  }

  loadMatching(ids: ObserverId[]): Promise<Books> {
    return Promise.resolve(this.#load(ids));
  }

  #load(ids: ObserverId[], inventories = new InventoryParts()): Books {
    const books = new Books(inventories);
    for (const id of ids) {
      const row = this.#tables.observers.get(id);
      if (row === undefined) continue;
      const { name: _, mark: __, content: ___, ...columns } = structuredClone(row);
      books.observers.set(id, columns);
    }
    for (const [id, run] of structuredClone(this.#tables.runs)) books.runs.set(id, run);
    for (const [id, service] of structuredClone(this.#tables.services)) books.services.set(id, service);
    return books;
  }

  async write(books: Books): Promise<void> {
    const tables = this.#tables;
    const rows = [...books.changedObservers, ...books.changedRuns, ...books.changedServices];
    if (JSON.stringify(rows).includes("\\u0000")) throw new RefusedByDatabase("a NUL in a text");
    for (const observer of books.changedObservers) {
      const row = tables.observers.get(observer.id);
      if (row === undefined) throw new Error(`the observer ${observer.id} was written, but not loaded`);
      Object.assign(row, observer);
      this.#touch(row);
    }
    for (const run of books.changedRuns) tables.runs.set(run.id, run);
    for (const service of books.changedServices) tables.services.set(service.id, service);
    for (const [key, command] of tables.commands) {
      if ("observerId" in command && books.quietObservers.has(command.observerId)) tables.commands.delete(key);
      if ("runId" in command && books.quietRuns.has(command.runId)) tables.commands.delete(key);
    }
    for (const change of books.commands.values()) {
      if ("want" in change) tables.commands.set(keyText(change.want), change.want);
      else tables.commands.delete(keyText(change.forget));
    }
  }

  async writeSpec(id: ObserverId, spec: ObserverSpec): Promise<void> {
    const row = this.#tables.observers.get(id);
    if (row === undefined) throw new Error(`the observer ${id} was written, but not loaded`);
    row.content = { ...row.content, ...spec };
    this.#touch(row);
  }

  knowsUpdates(): Promise<{ word: boolean; onUpdate: boolean }> {
    return Promise.resolve({ word: false, onUpdate: false });
  }

  #touch(row: ObserverRow): void {
    this.#tables.writes += 1;
    row.mark = this.#tables.writes;
  }

  async recordErrors(errors: NewError[]): Promise<void> {
    const known = new Set(this.#tables.errors.map(({ messageId }) => messageId));
    this.#tables.errors.push(...errors.filter(({ messageId }) => messageId === null || !known.has(messageId)));
  }

  async keepUnapplied(events: KeptEvent[]): Promise<void> {
    await this.recordErrors(events.map(({ error }) => error));
    this.#tables.kept.push(...events);
  }

  async takeUnapplied(id: string): Promise<boolean> {
    const had = this.#tables.errors.length;
    this.#tables.errors = this.#tables.errors.filter(({ messageId }) => messageId !== id);
    this.#tables.kept = this.#tables.kept.filter(({ error }) => error.messageId !== id);
    return this.#tables.errors.length < had;
  }

  findError(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  deleteError(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** One entry an action, however many transactions it takes. */
  async recordActions(done: ActionDone[]): Promise<void> {
    for (const one of done) {
      const entry = this.#tables.actions.find(({ action }) => action.id === one.action.id);
      if (entry === undefined) this.#tables.actions.push({ ...one });
      else Object.assign(entry, { count: entry.count + one.count, targets: [...entry.targets, ...one.targets] });
    }
  }

  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    const before = structuredClone(this.#tables);
    try {
      return await work();
    } catch (error) {
      Object.assign(this.#tables, before);
      throw error;
    }
  }

  async insertObservers(observers: NewObserver[]): Promise<Map<ObserverId, Inserted>> {
    const created: ObserverId[] = [];
    for (const { id, name, revision = 1, ...content } of observers) {
      const rows = [...this.#tables.observers.values()];
      if (rows.some((row) => row.id === id || (row.name === name && row.status !== "Deleted"))) continue;
      const row: ObserverRow = { ...NEW, id, name, revision, mark: 0, content };
      this.#touch(row);
      this.#tables.observers.set(id, row);
      const start: Command = { kind: "start", observerId: id, revision, delayMs: 0 };
      this.#tables.commands.set(keyText(start), start);
      created.push(id);
    }
    const views = await this.viewObservers(created);
    return new Map([...views].map(([id, observer]) => [id, { observer }]));
  }

  async setCheckpoint(
    ...[id, fencingToken, json, number = 1]: Parameters<BooksTransaction["setCheckpoint"]>
  ): Promise<void> {
    this.#tables.checkpoints.set(id, { fencingToken, number, json });
  }

  readCheckpoint(): ReturnType<BooksTransaction["readCheckpoint"]> {
    return Promise.resolve({ number: 0, value: null, savedAt: null, runId: null, previous: null });
  }

  laterThanNow(): Promise<Set<string>> {
    return Promise.resolve(new Set());
  }

  async lockPool(): Promise<void> {}

  async freeWorkers(): ReturnType<BooksTransaction["freeWorkers"]> {
    return { ofPool: 0, ofType: new Map() };
  }

  async namesTaken(names: string[]): Promise<Set<string>> {
    return new Set([...this.#tables.observers.values()].map(({ name }) => name).filter((name) => names.includes(name)));
  }

  async viewObservers(ids: ObserverId[]): Promise<Map<ObserverId, ObserverView>> {
    const rows = ids.flatMap((id) => this.#tables.observers.get(id) ?? []);
    return new Map(rows.map(({ content, ...row }) => [row.id, { ...content, ...row } as unknown as ObserverView]));
  }
}
