import type { ErrorEntry, ErrorGroupList, ErrorPage, ObserverErrors, ObserverView } from "@unacked/contracts";
import { noneOfEachStatus } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { encodeErrorCursor } from "../../flows/cursor.ts";
import type { ErrorQuery } from "../../flows/manager-api.ts";
import { isoOf } from "./observer-view.ts";
import { SqlConditions } from "./sql-condition.ts";

const COLUMNS = "id, reason, detail, error_group, queue, observer_id, run_id, reporter, body, body_bytes, at";

const BY_ID = `SELECT ${COLUMNS} FROM errors WHERE id = $1`;

const MAX_GROUPS = 500;

/** Index: errors_by_group, alone. */
const GROUPS = `
  SELECT reason, error_group AS "group", count(*)::int AS count, min(at) AS first_at, max(at) AS last_at,
         max(id) AS example_id, (count(*) OVER ())::int AS total
  FROM errors GROUP BY reason, error_group ORDER BY count(*) DESC, max(at) DESC LIMIT ${MAX_GROUPS}`;

/** Index: observers_by_error_group. */
const OBSERVER_GROUPS = `
  SELECT g.*, o.id AS example_id, o.name, o.status, o.last_error, o.last_error_at
  FROM (
    SELECT error_group AS "group", sum(count)::int AS count, jsonb_object_agg(status, count) AS by_status,
           min(first_at) AS first_at, max(last_at) AS last_at, (array_agg(newest ORDER BY last_at DESC))[1] AS newest,
           (count(*) OVER ())::int AS total
    FROM (
      SELECT error_group, status, count(*)::int AS count, min(coalesce(last_error_at, modified_at)) AS first_at,
             max(coalesce(last_error_at, modified_at)) AS last_at,
             (array_agg(id ORDER BY coalesce(last_error_at, modified_at) DESC, id))[1] AS newest
      FROM observers WHERE error_group IS NOT NULL AND status <> 'Deleted' GROUP BY error_group, status
    ) by_status GROUP BY error_group ORDER BY sum(count) DESC, max(last_at) DESC LIMIT ${MAX_GROUPS}
  ) g JOIN observers o ON o.id = g.newest ORDER BY g.count DESC, g.last_at DESC`;

interface ErrorRow {
  id: string;
  reason: string;
  detail: string;
  error_group: string;
  queue: string;
  observer_id: string | null;
  run_id: string | null;
  reporter: string;
  body: string;
  body_bytes: number;
  at: Date;
}

interface GroupRow {
  group: string;
  count: number;
  first_at: Date;
  last_at: Date;
  example_id: string;
  total: number;
}

type ObserverGroupRow = GroupRow &
  Pick<ObserverView, "name" | "status"> & {
    by_status: Partial<Record<ObserverView["status"], number>>;
    last_error: { name: string; message: string };
    last_error_at: Date | null;
  };

/** Ids count up, so the newest is the highest. Indexes: errors_pkey, errors_by_group, errors_of_observer. */
export async function listErrors(dataSource: DataSource, query: ErrorQuery): Promise<ErrorPage> {
  const page = conditionsOf(query);
  if (query.after) page.and("id < ?::bigint", query.after.id);
  const limit = page.parameter(query.limit + 1);
  const all = conditionsOf(query);
  const [rows, [count]] = await Promise.all([
    dataSource.query<ErrorRow[]>(
      `SELECT ${COLUMNS} FROM errors ${page.where} ORDER BY id DESC LIMIT ${limit}`,
      page.parameters,
    ),
    dataSource.query<{ total: number }[]>(`SELECT count(*)::int AS total FROM errors ${all.where}`, all.parameters),
  ]);
  const items = rows.slice(0, query.limit).map(toErrorEntry);
  const last = rows.length > query.limit ? items.at(-1) : undefined;
  return { items, total: count?.total ?? 0, nextCursor: last === undefined ? null : encodeErrorCursor({ id: last.id }) };
}

function conditionsOf({ reason, group, observer }: ErrorQuery): SqlConditions {
  const conditions = new SqlConditions();
  if (reason !== undefined) conditions.and("reason = ?", reason);
  if (group !== undefined) conditions.and("error_group = ?", group);
  if (observer?.kind === "id") conditions.and("observer_id = ?", observer.id);
  if (observer?.kind === "name") {
    // observers_name_of_living, observers_name_of_deleted
    conditions.and(
      `observer_id IN (SELECT id FROM observers WHERE name = ? AND status <> 'Deleted'
                       UNION ALL SELECT id FROM observers WHERE name = ? AND status = 'Deleted')`,
      ...[observer.name, observer.name],
    );
  }
  return conditions;
}

export async function findError(dataSource: DataSource, id: string): Promise<ErrorEntry | undefined> {
  const [row] = await dataSource.query<ErrorRow[]>(BY_ID, [id]);
  return row && toErrorEntry(row);
}

export async function groupErrors(dataSource: DataSource): Promise<ErrorGroupList> {
  const rows = await dataSource.query<(GroupRow & { reason: string })[]>(GROUPS);
  const items = rows.map((row) => ({ reason: row.reason, ...spanOf(row), exampleId: row.example_id }));
  return { items, total: rows[0]?.total ?? 0 };
}

export async function groupObserverErrors(dataSource: DataSource): Promise<ObserverErrors> {
  const rows = await dataSource.query<ObserverGroupRow[]>(OBSERVER_GROUPS);
  const items = rows.map((row) => {
    const { count: total, ...span } = spanOf(row);
    const lastError = { ...row.last_error, group: row.group, at: isoOf(row.last_error_at) };
    const example = { id: row.example_id, name: row.name, status: row.status, lastError };
    return { ...span, total, byStatus: { ...noneOfEachStatus(), ...row.by_status }, example };
  });
  return { items, total: rows[0]?.total ?? 0 };
}

function spanOf({ group, count, first_at: firstAt, last_at: lastAt }: GroupRow) {
  return { group, count, firstSeenAt: firstAt.toISOString(), lastSeenAt: lastAt.toISOString() };
}

function toErrorEntry(row: ErrorRow): ErrorEntry {
  const { id, reason, detail, error_group: group, queue, reporter, body } = row;
  return {
    ...{ id, reason, detail, group, queue, reporter, body },
    observerId: row.observer_id,
    runId: row.run_id,
    bodyBytes: row.body_bytes,
    at: row.at.toISOString(),
  };
}
