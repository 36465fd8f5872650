import type { DataSource } from "typeorm";
import { type CutRow, cutToBytes } from "./page-bytes.ts";
import { literals, type SqlConditions, TIME_OF_MICROS } from "./sql-conditions.ts";

/** Things that are kept in one table until they are over, and in another one after that; `columns` make the same row of both. */
export interface LiveAndEnded {
  live: Table;
  /** Undefined: one table has all. */
  ended: Table | undefined;
  /** The statuses of the second table. */
  overStatuses: readonly string[];
  /** They are counted up to this number. */
  maxCount: number;
  /** Columns that may be long: a page has only as many rows as fit into MAX_PAGE_BYTES. */
  large?: readonly string[];
}

interface Table {
  table: string;
  columns: string;
  /**
   * Groups of statuses that have indexes of their own, and are read apart; together all that the table has. Undefined: it is read as
   * one.
   */
  parts?: readonly (readonly string[])[];
}

export interface ListQuery {
  statuses?: readonly string[] | undefined;
  limit: number;
  /** Where the page before ended. */
  after?: Position | undefined;
}

export interface Position {
  createdAtMicros: string;
  id: string;
}

export interface ListedPage<Row> {
  rows: Row[];
  total: number;
  isTotalExact: boolean;
  /** Absent on the last page. */
  last?: Position;
}

const NEWEST = "created_at DESC, id DESC";
const MICROS = "(extract(epoch FROM created_at) * 1000000)::bigint::text AS created_at_micros";

/**
 * One page of both tables, the newest first, and how many match. It has fewer rows than asked for if they are long, and the next page goes
 * on all the same. Indexes: (created_at DESC) of both tables, and those that begin with what is asked for.
 * @param conditionsOf the conditions of the query, made anew for each statement
 */
export async function listNewest<Row extends { id: string }>(
  dataSource: DataSource,
  both: LiveAndEnded,
  query: ListQuery,
  conditionsOf: () => SqlConditions,
): Promise<ListedPage<Row>> {
  // Nothing that is asked for is in any part.
  if (partsOf(both, query.statuses).length === 0) return { rows: [], total: 0, isTotalExact: true };
  const [rows, counted] = await Promise.all([
    page<Row>(dataSource, both, query, conditionsOf()),
    count(dataSource, both, query, conditionsOf()),
  ]);
  const shown = rows.slice(0, query.limit);
  const found = rows[0]?.found ?? rows.length;
  const last = found > shown.length ? shown.at(-1) : undefined;
  return {
    rows: shown,
    total: Math.min(counted, both.maxCount),
    isTotalExact: counted <= both.maxCount,
    ...(last && { last: { createdAtMicros: last.created_at_micros, id: last.id } }),
  };
}

function page<Row>(
  dataSource: DataSource,
  both: LiveAndEnded,
  { statuses, after, limit }: ListQuery,
  conditions: SqlConditions,
) {
  if (after !== undefined)
    conditions.and(`(created_at, id) < (${TIME_OF_MICROS}, ?::uuid)`, after.createdAtMicros, after.id);
  const most = conditions.parameter(limit + 1);
  const parts = partsOf(both, statuses).map(
    ({ columns, table, where }) =>
      `(SELECT ${columns}, ${MICROS} FROM ${table} ${conditions.whereAlso(where)} ORDER BY ${NEWEST} LIMIT ${most})`,
  );
  const rows = `SELECT * FROM (${parts.join(" UNION ALL ")}) listed ORDER BY ${NEWEST} LIMIT ${most}`;
  return dataSource.query<(Row & { created_at_micros: string } & Partial<CutRow>)[]>(
    both.large === undefined ? rows : cutToBytes(rows, both.large, NEWEST),
    conditions.parameters,
  );
}

async function count(dataSource: DataSource, both: LiveAndEnded, { statuses }: ListQuery, conditions: SqlConditions) {
  const most = conditions.parameter(both.maxCount + 1);
  const parts = partsOf(both, statuses).map(
    ({ table, where }) => `(SELECT 1 FROM ${table} ${conditions.whereAlso(where)} LIMIT ${most})`,
  );
  const [row] = await dataSource.query<{ total: number }[]>(
    `SELECT count(*)::int AS total FROM (${parts.join(" UNION ALL ")}) found`,
    conditions.parameters,
  );
  return row?.total ?? 0;
}

/** Only the parts that can have one of these statuses. */
function partsOf(both: LiveAndEnded, statuses: readonly string[] | undefined): Part[] {
  const isAsked = (status: string) => statuses === undefined || statuses.includes(status);
  return tablesOf(both, statuses).flatMap(({ table, columns, parts }): Part[] =>
    parts === undefined
      ? [{ table, columns }]
      : parts
          .filter((part) => part.some(isAsked))
          .map((part) => ({ table, columns, where: `status IN (${literals(part)})` })),
  );
}

interface Part extends Omit<Table, "parts"> {
  where?: string;
}

function tablesOf({ live, ended, overStatuses }: LiveAndEnded, statuses: readonly string[] | undefined): Table[] {
  if (ended === undefined) return [live];
  const isOver = (status: string) => overStatuses.includes(status);
  return [...(statuses?.every(isOver) ? [] : [live]), ...(statuses?.some(isOver) === false ? [] : [ended])];
}
