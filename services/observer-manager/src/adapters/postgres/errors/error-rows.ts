import {
  type ErrorEntry,
  type ErrorGroupList,
  type ErrorPage,
  MAX_ERROR_DETAIL,
  MAX_REPORTED_BODY_BYTES,
  noneOfEachStatus,
  type ObserverErrors,
  type ObserverView,
  withoutHoles,
} from "@unacked/contracts";
import { type DataSource, type EntityManager, type FindOptionsWhere, LessThan, Raw } from "typeorm";
import { errorGroupOf } from "../../../domain/errors/error-group.ts";
import { shownTime, shownTimeOrNull } from "../../../domain/shown-time.ts";
import type { NewError } from "../../../operations/books/books-store.ts";
import { encodeErrorCursor } from "../../../operations/cursor.ts";
import type { ErrorQuery } from "../../../operations/errors/error-desk.ts";
import { GivenRows } from "../statements/given-rows.ts";
import { type ErrorRow, ErrorsTable } from "../tables/errors.ts";

const MAX_GROUPS = 500;

/** Index: errors_by_group; the table is not read. */
const GROUPS = `
  SELECT reason, error_group AS "group", count(*)::int AS count, min(at) AS first_at, max(at) AS last_at,
         max(id) AS example_id, (count(*) OVER ())::int AS total
  FROM errors GROUP BY reason, error_group ORDER BY count(*) DESC, max(at) DESC LIMIT ${MAX_GROUPS}`;

/** Index: observers_by_error_group. */
const OBSERVER_GROUPS = `
  SELECT g.*, o.id AS example_id, o.name, o.status, o.last_error - 'stack' AS last_error, o.last_error_at
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

/** Reads the long columns, and whose they are, by ids. Details are cut: an older manager wrote them whole. Indexes: errors_pkey, observers_pkey. */
const textsWith = (body: string): string =>
  `SELECT e.id, left(e.detail, ${MAX_ERROR_DETAIL}) AS detail, ${body} AS body, o.name AS "observerName"
   FROM errors e LEFT JOIN observers o ON o.id = e.observer_id WHERE e.id = ANY($1)`;
const WHOLE = textsWith("e.body");
/** The body of an unknown observer is its whole start: only findError shows it whole. */
const SHOWN = textsWith(`left(e.body, ${MAX_REPORTED_BODY_BYTES})`);
const ALL_BUT_TEXTS = Object.fromEntries(
  Object.keys(ErrorsTable.options.columns).flatMap((name) => (name === "detail" || name === "body" ? [] : [[name, true]])),
);

type Texts = Pick<ErrorRow, "id" | "detail" | "body"> & Pick<ErrorEntry, "observerName">;

/** Ids count up, so the newest is the highest. Indexes: errors_pkey, errors_by_group, errors_of_observer. */
export async function listErrors(dataSource: DataSource, { after, limit, ...query }: ErrorQuery): Promise<ErrorPage> {
  const errors = dataSource.getRepository(ErrorsTable);
  const all = conditionsOf(query);
  const [rows, total] = await Promise.all([
    errors.find({
      select: ALL_BUT_TEXTS,
      where: { ...all, ...(after && { id: LessThan(after.id) }) },
      order: { id: "DESC" },
      take: limit + 1,
    }),
    errors.countBy(all),
  ]);
  const shown = rows.slice(0, limit);
  const texts = await dataSource.query<Texts[]>(SHOWN, [shown.map(({ id }) => id)]);
  const textsOf = new Map(texts.map((each) => [each.id, each]));
  const items = shown.map((row) =>
    toErrorEntry({ ...row, detail: "", body: "", observerName: null, ...textsOf.get(row.id) }),
  );
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, total, nextCursor: last === undefined ? null : encodeErrorCursor({ id: last.id }) };
}

function conditionsOf({ reason, group, observer }: Pick<ErrorQuery, "reason" | "group" | "observer">) {
  const where: FindOptionsWhere<ErrorRow> = {};
  if (reason !== undefined) where.reason = reason;
  if (group !== undefined) where.group = group;
  if (observer?.kind === "id") where.observerId = observer.id;
  if (observer?.kind === "name") where.observerId = Raw(ofObserversNamed, { name: observer.name });
  return where;
}

/** Indexes: observers_name_of_living, observers_name_of_deleted. */
const ofObserversNamed = (observerId: string): string =>
  `${observerId} IN (SELECT id FROM observers WHERE name = :name AND status <> 'Deleted'
                     UNION ALL SELECT id FROM observers WHERE name = :name AND status = 'Deleted')`;

export async function findError(dataSource: DataSource, id: string): Promise<ErrorEntry | undefined> {
  const row = await dataSource.getRepository(ErrorsTable).findOne({ select: ALL_BUT_TEXTS, where: { id } });
  const [texts] = await dataSource.query<Texts[]>(WHOLE, [[id]]);
  return row === null || texts === undefined ? undefined : toErrorEntry({ ...row, ...texts });
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
    const lastError = { ...row.last_error, group: row.group, at: shownTimeOrNull(row.last_error_at) };
    const example = { id: row.example_id, name: row.name, status: row.status, lastError };
    return { ...span, total, byStatus: { ...noneOfEachStatus(), ...row.by_status }, example };
  });
  return { items, total: rows[0]?.total ?? 0 };
}

function spanOf({ group, count, first_at: firstAt, last_at: lastAt }: GroupRow) {
  return { group, count, firstSeenAt: shownTime(firstAt), lastSeenAt: shownTime(lastAt) };
}

function toErrorEntry({ messageId: _messageId, at, ...entry }: ErrorRow & Texts): ErrorEntry {
  return { ...entry, at: shownTime(at) };
}

const GIVEN = new GivenRows<NewError>({
  message_id: ["uuid", (e) => e.messageId],
  reason: ["text", (e) => e.reason],
  detail: ["text", (e) => shownDetail(e.detail)],
  error_group: ["text", (e) => errorGroupOf(shownDetail(e.detail))],
  queue: ["text", (e) => withoutNul(e.queue)],
  observer_id: ["uuid", (e) => e.observerId ?? null],
  run_id: ["uuid", (e) => e.runId ?? null],
  reporter: ["text", (e) => withoutNul(e.reporter)],
  body: ["text", (e) => withoutNul(e.body)],
  body_bytes: ["int", (e) => e.bodyBytes],
});
const INSERT = `INSERT INTO errors (${GIVEN.names()}) SELECT * FROM ${GIVEN.from()} ON CONFLICT (message_id) DO NOTHING`;

export async function recordErrors(database: Pick<EntityManager, "query">, errors: NewError[]): Promise<void> {
  if (errors.length > 0) await database.query(INSERT, GIVEN.of(errors));
}

/** A detail is cut, as it may hold names that the sender chose: a page shows a thousand errors, each with its whole detail. */
const shownDetail = (text: string): string => withoutHoles(text.slice(0, MAX_ERROR_DETAIL));

/** PostgreSQL's text holds no NUL. An error can go nowhere else from here, so NUL is replaced rather than refused. */
const withoutNul = (text: string): string => text.replaceAll("\0", "\uFFFD");
