import type {
  CheckpointView,
  ObserverFilter,
  ObserverId,
  ObserverSpec,
  ObserverTypeInfo,
  ObserverView,
  RunId,
  ServiceId,
} from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { Books } from "../../../domain/books/books.ts";
import { InventoryParts } from "../../../domain/books/inventory-parts.ts";
import type { ReceivedMessage, SignOfLife } from "../../../domain/books/received-message.ts";
import type { KnowsUpdates } from "../../../domain/observers/spec-change.ts";
import type { ActionDone } from "../../../operations/access/audit.ts";
import { allInOrder } from "../../../operations/all-in-order.ts";
import {
  type BooksStore,
  type BooksTransaction,
  type Inserted,
  type KeptEvent,
  type NewError,
  type UnknownRun,
} from "../../../operations/books/books-store.ts";
import type { ObserverRef } from "../../../operations/observers/observer-tools.ts";
import { type FreeWorkers } from "../../../operations/observers/workers-left.ts";
import type { TypeDirectory } from "../../../operations/types/type-check.ts";
import { recordActions } from "../access/audit-rows.ts";
import { transact, type Unawaited } from "../connection/transaction.ts";
import { recordErrors } from "../errors/error-rows.ts";
import { readCheckpoint, setCheckpoint } from "../observers/checkpoint-rows.ts";
import { readFreeWorkers } from "../observers/observer-counts.ts";
import { conditionsOf } from "../observers/observer-filter.ts";
import { insertObservers } from "../observers/observer-inserts.ts";
import { viewObservers } from "../observers/observer-reads.ts";
import { writeSpec } from "../observers/observer-spec-write.ts";
import { LARGE_COLUMNS } from "../observers/observer-view.ts";
import { findUnknownRuns } from "../observers/unknown-runs.ts";
import { lockPool } from "../pools/pool-lock.ts";
import { knowsUpdates } from "../services/knows-updates.ts";
import { bytesOfAll } from "../statements/page-bytes.ts";
import { asRefused, rethrowRefused } from "../statements/refused.ts";
import { PostgresTypeDirectory } from "../types/type-reads.ts";
import { TypesByHash } from "../types/types-by-hash.ts";
import { loadBooks, loadObserverBooks, loadObserverBooksLike, needsAnswers, writeBooks } from "./books-rows.ts";
import { noteSignOfLife } from "./sign-of-life-write.ts";
import { keepUnapplied, takeUnapplied } from "./unapplied-events.ts";

/** Indexes: observers_name_of_living, observers_name_of_deleted. */
const BY_NAMES = `
  SELECT DISTINCT ON (name) name, id FROM (
    SELECT name, id, true AS lives, created_at FROM observers WHERE name = ANY($1) AND status <> 'Deleted'
    UNION ALL
    SELECT name, id, false, created_at FROM observers WHERE name = ANY($1) AND status = 'Deleted'
  ) known ORDER BY name, lives DESC, created_at DESC`;

/**
 * A deleted observer is not shown by its name, so it has no size by it. No name looks like an id. Indexes: observers_pkey,
 * observers_name_of_living.
 */
const SIZES = `
  SELECT id::text AS ref, (${bytesOfAll(LARGE_COLUMNS)})::int AS bytes FROM observers WHERE id = ANY($1)
  UNION ALL
  SELECT name, (${bytesOfAll(LARGE_COLUMNS)})::int FROM observers WHERE name = ANY($2) AND status <> 'Deleted'`;

/** Index: observers_name_of_living. */
const NAMES_TAKEN = "SELECT name FROM observers WHERE name = ANY($1) AND status <> 'Deleted'";

/** Index: observers_pkey. */
const LOCK_BY_IDS = "SELECT FROM observers WHERE id = ANY($1) ORDER BY id FOR UPDATE";
const UNCHANGED = "JOIN unnest($1::uuid[], $2::text[]) AS u (id, mark) USING (id) WHERE o.changed_xid = u.mark::xid8";

/** Index: errors_pkey. */
const ERROR = 'SELECT observer_id AS "observerId", reason, body FROM errors WHERE id = $1';
const DELETE_ERROR = "DELETE FROM errors WHERE id = $1";

const LATER_THAN_NOW = "SELECT time FROM unnest($1::text[]) AS u (time) WHERE time::timestamptz > unacked_now()";

/** The books in PostgreSQL. What PostgreSQL will never accept becomes RefusedByDatabase. */
export class PostgresBooksStore implements BooksStore {
  readonly #dataSource: DataSource;
  readonly #types = new TypesByHash<ObserverTypeInfo>();

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async inTransaction<T>(work: (tx: BooksTransaction) => Promise<T>): Promise<T> {
    return await transact(this.#dataSource, (manager, unawaited) =>
      work(new PostgresBooksTransaction(manager, unawaited, this.#types)),
    ).catch(rethrowRefused);
  }

  noteSignOfLife(sign: SignOfLife): Promise<boolean> {
    return noteSignOfLife(this.#dataSource, sign);
  }

  async findMatching(filter: ObserverFilter): Promise<ObserverId[]> {
    const { where, parameters } = conditionsOf(filter);
    const rows = await this.#dataSource.query<{ id: ObserverId }[]>(
      `SELECT o.id FROM observers o ${where} ORDER BY o.id`,
      parameters,
    );
    return rows.map(({ id }) => id);
  }

  async sizesOf(refs: readonly ObserverRef[]): Promise<number[]> {
    const ids = refs.flatMap((ref) => (ref.kind === "id" ? [ref.id] : []));
    const names = refs.flatMap((ref) => (ref.kind === "name" ? [ref.name] : []));
    const rows = await this.#dataSource.query<{ ref: string; bytes: number }[]>(SIZES, [ids, names]);
    const sizes = new Map(rows.map(({ ref, bytes }) => [ref, bytes]));
    return refs.map((ref) => sizes.get(ref.kind === "id" ? ref.id : ref.name) ?? 0);
  }

  findUnknownRuns(runIds: RunId[]): Promise<Map<RunId, UnknownRun>> {
    return findUnknownRuns(this.#dataSource, runIds);
  }
}

/** Loads and locks rows for an operation's decision, and writes what it decided, which is not waited for. */
export class PostgresBooksTransaction implements BooksTransaction {
  readonly #tx: EntityManager;
  readonly #unawaited: Unawaited;
  readonly types: TypeDirectory;

  constructor(tx: EntityManager, unawaited: Unawaited, types?: TypesByHash<ObserverTypeInfo>) {
    this.types = new PostgresTypeDirectory(tx, types);
    this.#tx = tx;
    this.#unawaited = unawaited;
  }

  loadFor(messages: ReceivedMessage[], inventories: InventoryParts): Promise<Books> {
    return loadBooks(this.#tx, messages, inventories);
  }

  async loadObservers(
    refs: ObserverRef[],
    among?: ObserverFilter,
  ): Promise<{ books: Books; ids: (ObserverId | undefined)[] }> {
    const idOf = await this.#idsByName(refs.flatMap((ref) => (ref.kind === "name" ? [ref.name] : [])));
    const ids = refs.map((ref) => (ref.kind === "id" ? ref.id : idOf.get(ref.name)));
    const known = [...new Set(ids.filter((id) => id !== undefined))];
    const books =
      among === undefined
        ? await loadObserverBooks(this.#tx, known, new InventoryParts())
        : await this.loadMatching(known, among);
    return { books, ids: ids.map((id) => (id !== undefined && books.observers.has(id) ? id : undefined)) };
  }

  async #idsByName(names: string[]): Promise<Map<string, ObserverId>> {
    if (names.length === 0) return new Map();
    const rows = await this.#tx.query<{ name: string; id: ObserverId }[]>(BY_NAMES, [names]);
    return new Map(rows.map(({ name, id }) => [name, id]));
  }

  /**
   * An earlier statement locks the rows. A single one would see an observer as its ledger left it, but the names of services only for where
   * it was before.
   */
  async loadMatching(ids: ObserverId[], filter: ObserverFilter): Promise<Books> {
    await this.#tx.query(LOCK_BY_IDS, [ids]);
    const { where, parameters } = conditionsOf(filter).and("o.id = ANY(?)", ids);
    return loadObserverBooksLike(this.#tx, where, parameters);
  }

  loadUnchanged(ids: ObserverId[], marks: ReadonlyMap<string, string>): Promise<Books> {
    return loadObserverBooksLike(this.#tx, UNCHANGED, [ids, ids.map((id) => marks.get(id) ?? "0")]);
  }

  async write(books: Books): Promise<void> {
    const written = writeBooks(this.#tx, books);
    if (needsAnswers(books)) await written;
    else this.#unawaited.add(written);
  }

  knowsUpdates(service: ServiceId, type: string): Promise<KnowsUpdates> {
    return knowsUpdates(this.#tx, service, type);
  }

  writeSpec(id: ObserverId, spec: ObserverSpec): Promise<void> {
    return writeSpec(this.#tx, id, spec);
  }

  recordErrors(errors: NewError[]): Promise<void> {
    return recordErrors(this.#tx, errors);
  }

  keepUnapplied(events: KeptEvent[]): Promise<void> {
    return keepUnapplied(this.#tx, events);
  }

  async takeUnapplied(id: string): Promise<boolean> {
    await this.#unawaited.done(); // if START TRANSACTION failed, this would run outside of it
    return takeUnapplied(this.#tx, id);
  }

  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    // What was refused before the savepoint is not the fault of this work.
    await allInOrder([this.#unawaited.done(), this.#tx.query("SAVEPOINT one_event")]);
    try {
      const result = await work();
      await this.#unawaited.done();
      return result;
    } catch (error) {
      await this.#tx.query("ROLLBACK TO SAVEPOINT one_event");
      throw asRefused(await this.#unawaited.causeOf(error));
    } finally {
      // A savepoint that stays open costs the transaction memory, and makes every later statement look longer.
      await this.#tx.query("RELEASE SAVEPOINT one_event");
    }
  }

  async recordActions(done: ActionDone[]): Promise<void> {
    this.#unawaited.add(recordActions(this.#tx, done));
  }

  insertObservers(
    ...[observers, claimId, mayBeThere]: Parameters<BooksTransaction["insertObservers"]>
  ): Promise<Map<ObserverId, Inserted>> {
    const inserted = insertObservers(this.#tx, observers, claimId, mayBeThere);
    this.#unawaited.add(inserted); // its refusal is reported, and not that of what is asked behind it
    return inserted;
  }

  async findError(id: string): ReturnType<BooksTransaction["findError"]> {
    const [row] = await this.#tx.query<NonNullable<Awaited<ReturnType<BooksTransaction["findError"]>>>[]>(ERROR, [id]);
    return row;
  }

  async deleteError(id: string): Promise<boolean> {
    await this.#unawaited.done(); // as above
    const [, deleted] = await this.#tx.query<[unknown[], number]>(DELETE_ERROR, [id]);
    return deleted > 0;
  }

  async laterThanNow(times: readonly string[]): Promise<Set<string>> {
    const rows = await this.#tx.query<{ time: string }[]>(LATER_THAN_NOW, [times]);
    return new Set(rows.map(({ time }) => time));
  }

  lockPool(pool: string): Promise<void> {
    return lockPool(this.#tx, pool);
  }

  freeWorkers(pool: string, types: readonly string[]): Promise<FreeWorkers> {
    return readFreeWorkers(this.#tx, pool, types);
  }

  async namesTaken(names: string[]): Promise<Set<string>> {
    const rows = await this.#tx.query<{ name: string }[]>(NAMES_TAKEN, [names]);
    return new Set(rows.map(({ name }) => name));
  }

  setCheckpoint(...[id, fencingToken, json, number]: Parameters<BooksTransaction["setCheckpoint"]>): Promise<void> {
    return setCheckpoint(this.#tx, id, fencingToken, json, number);
  }

  readCheckpoint(id: ObserverId): Promise<CheckpointView> {
    return readCheckpoint(this.#tx, id);
  }

  viewObservers(ids: ObserverId[]): Promise<Map<ObserverId, ObserverView>> {
    return viewObservers(this.#tx, ids);
  }
}
