import type { ObserverColumns, ObserverId, ObserverPage, ObserverView } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { encodeObserverCursor } from "../../../operations/cursor.ts";
import type {
  ObserverPosition,
  ObserverQuery,
  ObserverRef,
  ObserverSort,
} from "../../../operations/observers/observer-tools.ts";
import { type CutRow, cutToBytes } from "../statements/page-bytes.ts";
import { type SqlConditions, TIME_OF_MICROS } from "../statements/sql-conditions.ts";
import { OBSERVER_COUNTS } from "./observer-counts.ts";
import { conditionsOf, isCounted } from "./observer-filter.ts";
import {
  LARGE_COLUMNS,
  LISTED_COLUMNS,
  OBSERVER_COLUMNS,
  OBSERVER_DETAILS,
  OBSERVER_SERVICE,
  type ObserverRow,
  toColumns,
  toObserverView,
} from "./observer-view.ts";

/** Computed in floating point, which is exact up to the year 2255 (2^53 µs), and cheaper than a numeric. */
const MICROS_OF_CREATED = "round(date_part('epoch', o.created_at) * 1e6)::bigint::text AS created_at_micros";

/** Indexes: observers_newest (observers_by_status with a status), observers_by_attempts. */
const ORDER: Record<ObserverSort, string> = {
  newest: "o.created_at DESC, o.id DESC",
  oldest: "o.created_at, o.id",
  attempts: "o.attempts DESC, o.created_at DESC, o.id DESC",
};

/** The same orders, by the columns of a page. */
const ORDER_OF_PAGE: Record<ObserverSort, string> = {
  newest: "created_at_micros::bigint DESC, id DESC",
  oldest: "created_at_micros::bigint, id",
  attempts: "attempts DESC, created_at_micros::bigint DESC, id DESC",
};

/** Index: observers_pkey. */
const BY_ID = `SELECT ${OBSERVER_DETAILS} FROM observers o ${OBSERVER_SERVICE} WHERE o.id = $1`;

/** Index: observers_name_of_living. */
const BY_NAME = `SELECT ${OBSERVER_DETAILS} FROM observers o ${OBSERVER_SERVICE} WHERE o.name = $1 AND o.status <> 'Deleted'`;

const COUNT = "count(*)::int AS total FROM observers o";

/**
 * One page, shorter if its rows are long, and how many match in all. The cursor is a place: rows that come and go meanwhile neither repeat
 * nor hide others.
 */
export async function listObservers(dataSource: DataSource, query: ObserverQuery): Promise<ObserverPage> {
  const { rows, ...page } = await readPage(dataSource, query, OBSERVER_COLUMNS, LARGE_COLUMNS);
  return { items: rows.map(toObserverView), ...page };
}

/** The same page column by column, with only what lists show. */
export async function listObserverColumns(dataSource: DataSource, query: ObserverQuery): Promise<ObserverColumns> {
  const { rows, ...page } = await readPage(dataSource, query, LISTED_COLUMNS);
  return { ...toColumns(rows), ...page };
}

async function readPage(
  dataSource: DataSource,
  query: ObserverQuery,
  columns: string,
  large?: readonly string[],
): Promise<Omit<ObserverPage, "items"> & { rows: PageRow[] }> {
  const filter = conditionsOf(query);
  const total = isCounted(query) ? `coalesce(sum(count), 0)::int AS total FROM ${OBSERVER_COUNTS} o` : COUNT;
  const counted = dataSource.query<{ total: number }[]>(`SELECT ${total} ${filter.where}`, [...filter.parameters]);
  const [[count], found] = await Promise.all([counted, queryPage(dataSource, query, columns, large)]);
  const rows = found.slice(0, query.limit);
  const last = (found[0]?.found ?? found.length) > rows.length ? rows.at(-1) : undefined;
  return {
    rows,
    total: count?.total ?? 0,
    nextCursor: last === undefined ? null : encodeObserverCursor(positionOf(last, query.sort)),
  };
}

export async function findObserver(
  dataSource: Pick<DataSource, "query">,
  ref: ObserverRef,
): Promise<ObserverView | undefined> {
  const [row] =
    ref.kind === "id"
      ? await dataSource.query<ObserverRow[]>(BY_ID, [ref.id])
      : await dataSource.query<ObserverRow[]>(BY_NAME, [ref.name]);
  return row && toObserverView(row);
}

/** Index: observers_pkey. */
const BY_IDS = `SELECT ${OBSERVER_COLUMNS} FROM observers o ${OBSERVER_SERVICE} WHERE o.id = ANY($1)`;

export async function viewObservers(
  tx: Pick<DataSource, "query">,
  ids: ObserverId[],
): Promise<Map<ObserverId, ObserverView>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.query<ObserverRow[]>(BY_IDS, [ids]);
  return new Map(rows.map((row) => [row.id as ObserverId, toObserverView(row)]));
}

type PageRow = ObserverRow & { attempts: number; created_at_micros: string } & Partial<CutRow>;

function queryPage(
  dataSource: DataSource,
  query: ObserverQuery,
  columns: string,
  large?: readonly string[],
): Promise<PageRow[]> {
  const conditions = conditionsOf(query);
  if (query.after !== undefined) behind(conditions, query.after);
  // One row more than asked for tells whether there is a next page.
  const limit = conditions.parameter(query.limit + 1);
  const sql = `SELECT ${columns}, ${MICROS_OF_CREATED} FROM observers o ${OBSERVER_SERVICE}
    ${conditions.where} ORDER BY ${ORDER[query.sort]} LIMIT ${limit}`;
  const cut = large === undefined ? sql : cutToBytes(sql, large, ORDER_OF_PAGE[query.sort]);
  return dataSource.query<PageRow[]>(cut, conditions.parameters);
}

/** A row-wise comparison, so that the index on the same columns finds the place at once. */
function behind(conditions: SqlConditions, after: ObserverPosition): void {
  switch (after.sort) {
    case "newest":
      conditions.and(`(o.created_at, o.id) < (${TIME_OF_MICROS}, ?::uuid)`, after.createdAtMicros, after.id);
      return;
    case "oldest":
      conditions.and(`(o.created_at, o.id) > (${TIME_OF_MICROS}, ?::uuid)`, after.createdAtMicros, after.id);
      return;
    case "attempts":
      conditions.and(
        `(o.attempts, o.created_at, o.id) < (?::int, ${TIME_OF_MICROS}, ?::uuid)`,
        after.attempts,
        after.createdAtMicros,
        after.id,
      );
      return;
    default:
      after satisfies never;
  }
}

function positionOf(row: PageRow, sort: ObserverSort): ObserverPosition {
  const place = { createdAtMicros: row.created_at_micros, id: row.id };
  return sort === "attempts" ? { sort, attempts: row.attempts, ...place } : { sort, ...place };
}
