import type { ObserverFilter, ObserverId, ObserverTypeInfo, RunId } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { SignOfLife } from "../../../domain/books/received-message.ts";
import type { BooksStore, BooksTransaction, UnknownRun } from "../../../operations/books/books-store.ts";
import type { ObserverRef } from "../../../operations/observers/observer-tools.ts";
import { transact } from "../connection/transaction.ts";
import { conditionsOf } from "../observers/observer-filter.ts";
import { LARGE_COLUMNS } from "../observers/observer-view.ts";
import { findUnknownRuns } from "../observers/unknown-runs.ts";
import { bytesOfAll } from "../statements/page-bytes.ts";
import { rethrowRefused } from "../statements/refused.ts";
import { TypesByHash } from "../types/types-by-hash.ts";
import { PostgresBooksTransaction } from "./postgres-books-transaction.ts";
import { noteSignOfLife } from "./sign-of-life-write.ts";

/**
 * A deleted observer is not shown by its name, so it has no size by it. No name looks like an id. Indexes: observers_pkey,
 * observers_name_of_living.
 */
const SIZES = `
  SELECT id::text AS ref, (${bytesOfAll(LARGE_COLUMNS)})::int AS bytes FROM observers WHERE id = ANY($1)
  UNION ALL
  SELECT name, (${bytesOfAll(LARGE_COLUMNS)})::int FROM observers WHERE name = ANY($2) AND status <> 'Deleted'`;

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
