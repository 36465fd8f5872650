import type { AuditEntry, AuditPage } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { encodeAuditCursor } from "../../flows/cursor.ts";
import type { AuditQuery } from "../../flows/manager-api.ts";
import { SqlConditions, TIME_OF_MICROS } from "./sql-condition.ts";

const COLUMNS = `id, at, actor, role, authentication, address, request_id, deed, count, targets, details,
  (extract(epoch FROM at) * 1000000)::bigint::text AS at_micros`;

interface AuditRow {
  id: string;
  at: Date;
  at_micros: string;
  actor: string;
  role: AuditEntry["actor"]["role"];
  authentication: AuditEntry["actor"]["authentication"];
  address: string;
  request_id: string;
  deed: AuditEntry["deed"];
  count: number;
  targets: AuditEntry["targets"];
  details: AuditEntry["details"];
}

/** Indexes: audit_newest; audit_of_actor, audit_of_targets and audit_of_request with these filters. */
export async function listAudit(dataSource: DataSource, query: AuditQuery): Promise<AuditPage> {
  const all = conditionsOf(query);
  const page = conditionsOf(query);
  const { after } = query;
  if (after) page.and(`(at, id) < (${TIME_OF_MICROS}, ?::uuid)`, after.atMicros, after.id);
  const limit = page.parameter(query.limit + 1);
  const [rows, [count]] = await Promise.all([
    dataSource.query<AuditRow[]>(
      `SELECT ${COLUMNS} FROM audit ${page.where} ORDER BY at DESC, id DESC LIMIT ${limit}`,
      page.parameters,
    ),
    dataSource.query<{ total: number }[]>(`SELECT count(*)::int AS total FROM audit ${all.where}`, all.parameters),
  ]);
  const shown = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? shown.at(-1) : undefined;
  return {
    items: shown.map(toAuditEntry),
    total: count?.total ?? 0,
    nextCursor: last === undefined ? null : encodeAuditCursor({ atMicros: last.at_micros, id: last.id }),
  };
}

function conditionsOf({ actor, deed, observer, requestId, since, until }: AuditQuery): SqlConditions {
  const conditions = new SqlConditions();
  if (actor !== undefined) conditions.and("actor = ?", actor);
  if (deed !== undefined) conditions.and("deed = ?", deed);
  if (requestId !== undefined) conditions.and("request_id = ?", requestId);
  if (since !== undefined) conditions.and("at >= ?::timestamptz", since);
  if (until !== undefined) conditions.and("at < ?::timestamptz", until);
  if (observer !== undefined) {
    const target = observer.kind === "id" ? { id: observer.id } : { name: observer.name };
    conditions.and("targets @> ?::jsonb", JSON.stringify([{ kind: "observer", ...target }]));
  }
  return conditions;
}

function toAuditEntry({ id, at, actor: name, role, authentication, address, ...row }: AuditRow): AuditEntry {
  const { deed, count, targets, details, request_id: requestId } = row;
  return {
    ...{ id, at: at.toISOString(), actor: { name, role, authentication, address } },
    ...{ deed, count, targets, details, requestId },
  };
}
