import type {
  CheckpointView,
  ObserverFilter,
  ObserverId,
  ObserverSpec,
  ObserverTypeInfo,
  ObserverView,
  ServiceId,
} from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { Books } from "../../../domain/books/books.ts";
import { InventoryParts } from "../../../domain/books/inventory-parts.ts";
import type { ReceivedMessage } from "../../../domain/books/received-message.ts";
import type { KnowsUpdates } from "../../../domain/observers/spec-change.ts";
import type { ActionDone } from "../../../operations/access/audit.ts";
import { allInOrder } from "../../../operations/all-in-order.ts";
import type { BooksTransaction, Inserted, KeptEvent, NewError } from "../../../operations/books/books-store.ts";
import type { FreeWorkers } from "../../../operations/observers/workers-left.ts";
import type { TypeDirectory } from "../../../operations/types/type-check.ts";
import { recordActions } from "../access/audit-rows.ts";
import type { Unawaited } from "../connection/transaction.ts";
import { recordErrors } from "../errors/error-rows.ts";
import { readCheckpoint, setCheckpoint } from "../observers/checkpoint-rows.ts";
import { readFreeWorkers } from "../observers/observer-counts.ts";
import { insertObservers } from "../observers/observer-inserts.ts";
import { viewObservers } from "../observers/observer-reads.ts";
import { writeSpec } from "../observers/observer-spec-write.ts";
import { lockPool } from "../pools/pool-lock.ts";
import { knowsUpdates } from "../services/knows-updates.ts";
import { asRefused } from "../statements/refused.ts";
import { PostgresTypeDirectory } from "../types/type-reads.ts";
import { TypesByHash } from "../types/types-by-hash.ts";
import { loadByRefs, loadMatching, loadUnchanged } from "./books-by-refs.ts";
import { loadBooks, needsAnswers, writeBooks } from "./books-rows.ts";
import { keepUnapplied, takeUnapplied } from "./unapplied-events.ts";

/** Index: observers_name_of_living. */
const NAMES_TAKEN = "SELECT name FROM observers WHERE name = ANY($1) AND status <> 'Deleted'";

/** Index: errors_pkey. */
const ERROR = 'SELECT observer_id AS "observerId", reason, body FROM errors WHERE id = $1';
const DELETE_ERROR = "DELETE FROM errors WHERE id = $1";

const LATER_THAN_NOW = "SELECT time FROM unnest($1::text[]) AS u (time) WHERE time::timestamptz > unacked_now()";

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

  loadObservers(
    ...[refs, among]: Parameters<BooksTransaction["loadObservers"]>
  ): ReturnType<BooksTransaction["loadObservers"]> {
    return loadByRefs(this.#tx, refs, among);
  }

  loadMatching(ids: ObserverId[], filter: ObserverFilter): Promise<Books> {
    return loadMatching(this.#tx, ids, filter);
  }

  loadUnchanged(ids: ObserverId[], marks: ReadonlyMap<string, string>): Promise<Books> {
    return loadUnchanged(this.#tx, ids, marks);
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
