import type { ObserverFilter, ObserverId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { Books } from "../../../domain/books/books.ts";
import { InventoryParts } from "../../../domain/books/inventory-parts.ts";
import type { ObserverRef } from "../../../operations/observers/observer-tools.ts";
import { conditionsOf } from "../observers/observer-filter.ts";
import { loadObserverBooks, loadObserverBooksLike } from "./books-rows.ts";

/* What a client asks for: observers by name or id, loaded and locked with their current runs. */

/** Indexes: observers_name_of_living, observers_name_of_deleted. */
const BY_NAMES = `
  SELECT DISTINCT ON (name) name, id FROM (
    SELECT name, id, true AS lives, created_at FROM observers WHERE name = ANY($1) AND status <> 'Deleted'
    UNION ALL
    SELECT name, id, false, created_at FROM observers WHERE name = ANY($1) AND status = 'Deleted'
  ) known ORDER BY name, lives DESC, created_at DESC`;

/** Index: observers_pkey. */
const LOCK_BY_IDS = "SELECT FROM observers WHERE id = ANY($1) ORDER BY id FOR UPDATE";
const UNCHANGED = "JOIN unnest($1::uuid[], $2::text[]) AS u (id, mark) USING (id) WHERE o.changed_xid = u.mark::xid8";

/** By name: the one that is not Deleted, else the last that was. @returns `ids` in the order of the refs: undefined where there is none */
export async function loadByRefs(
  tx: EntityManager,
  refs: ObserverRef[],
  among?: ObserverFilter,
): Promise<{ books: Books; ids: (ObserverId | undefined)[] }> {
  const names = refs.flatMap((ref) => (ref.kind === "name" ? [ref.name] : []));
  const idOf = await idsByName(tx, names);
  const ids = refs.map((ref) => (ref.kind === "id" ? ref.id : idOf.get(ref.name)));
  const known = [...new Set(ids.filter((id) => id !== undefined))];
  const books =
    among === undefined ? await loadObserverBooks(tx, known, new InventoryParts()) : await loadMatching(tx, known, among);
  return { books, ids: ids.map((id) => (id !== undefined && books.observers.has(id) ? id : undefined)) };
}

async function idsByName(tx: EntityManager, names: string[]): Promise<Map<string, ObserverId>> {
  if (names.length === 0) return new Map();
  const rows = await tx.query<{ name: string; id: ObserverId }[]>(BY_NAMES, [names]);
  return new Map(rows.map(({ name, id }) => [name, id]));
}

/**
 * Those of these observers that match. An earlier statement locks the rows: a single one would see an observer as its ledger left it, but
 * the names of services only for where it was before.
 */
export async function loadMatching(tx: EntityManager, ids: ObserverId[], filter: ObserverFilter): Promise<Books> {
  await tx.query(LOCK_BY_IDS, [ids]);
  const { where, parameters } = conditionsOf(filter).and("o.id = ANY(?)", ids);
  return loadObserverBooksLike(tx, where, parameters);
}

/** Those of these observers whose rows still bear these marks. */
export function loadUnchanged(tx: EntityManager, ids: ObserverId[], marks: ReadonlyMap<string, string>): Promise<Books> {
  return loadObserverBooksLike(tx, UNCHANGED, [ids, ids.map((id) => marks.get(id) ?? "0")]);
}
