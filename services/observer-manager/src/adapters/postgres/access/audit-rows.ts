import { type AuditEntry, type AuditPage, MAX_AUDIT_COUNT, MAX_AUDITED_TARGETS } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { ActionDone, AuditQuery } from "../../../operations/access/audit.ts";
import { encodeAuditCursor } from "../../../operations/cursor.ts";
import { GivenRows } from "../statements/given-rows.ts";
import { prepared } from "../statements/prepared.ts";
import { type AuditRow, AuditTable } from "../tables/audit.ts";
import { noteDone } from "./committed-actions.ts";

/** Indexes: audit_newest; audit_of_actor, audit_of_deed, audit_of_targets and audit_of_request with these filters. */
export async function listAudit(dataSource: DataSource, query: AuditQuery): Promise<AuditPage> {
  const { after, limit } = query;
  const page = matching(dataSource, query)
    .orderBy("audit.at", "DESC")
    .addOrderBy("audit.id", "DESC")
    .limit(limit + 1);
  if (after) page.andWhere(`(audit.at, audit.id) < (${TIME_OF_CURSOR}, :id::uuid)`, after);
  const [{ entities, raw }, counted] = await Promise.all([
    page.addSelect("(extract(epoch FROM audit.at) * 1000000)::bigint::text", "micros").getRawAndEntities(),
    count(dataSource, query),
  ]);
  const last = entities.length > limit ? (raw[limit - 1] as { audit_id: string; micros: string }) : undefined;
  return {
    items: entities.slice(0, limit).map(toAuditEntry),
    total: Math.min(counted, MAX_AUDIT_COUNT),
    isTotalExact: counted <= MAX_AUDIT_COUNT,
    nextCursor: last === undefined ? null : encodeAuditCursor({ atMicros: last.micros, id: last.audit_id }),
  };
}

/** Counts up to MAX_AUDIT_COUNT + 1; that one more says that the total is not exact. */
async function count(dataSource: DataSource, query: AuditQuery): Promise<number> {
  const found = matching(dataSource, query)
    .select("1")
    .limit(MAX_AUDIT_COUNT + 1);
  const sql = dataSource.createQueryBuilder().select("count(*)::int", "total").from(`(${found.getQuery()})`, "found");
  const row = await sql.setParameters(found.getParameters()).getRawOne<{ total: number }>();
  return row?.total ?? 0;
}

/** The time is exact: a double holds whole microseconds until the year 2255. */
const TIME_OF_CURSOR = "(timestamptz 'epoch' + :atMicros::bigint * interval '1 microsecond')";

function matching(dataSource: DataSource, query: AuditQuery) {
  const { actor, action, observer, target, targetKind, requestId, since, until } = query;
  const rows = dataSource.getRepository(AuditTable).createQueryBuilder("audit");
  if (actor !== undefined) rows.andWhere("audit.actor = :actor", { actor });
  if (action !== undefined) rows.andWhere("audit.action = :action", { action });
  if (requestId !== undefined) rows.andWhere("audit.requestId = :requestId", { requestId });
  if (since !== undefined) rows.andWhere("audit.at >= :since::timestamptz", { since });
  if (until !== undefined) rows.andWhere("audit.at < :until::timestamptz", { until });
  if (observer !== undefined) {
    const named = observer.kind === "id" ? { id: observer.id } : { name: observer.name };
    rows.andWhere("audit.targets @> :observer::jsonb", { observer: JSON.stringify([{ kind: "observer", ...named }]) });
  }
  if (target !== undefined) {
    const [byId, byName] = [{ id: target }, { name: target }].map((named) =>
      JSON.stringify([{ kind: targetKind, ...named }]),
    );
    rows.andWhere("(audit.targets @> :byId::jsonb OR audit.targets @> :byName::jsonb)", { byId, byName });
  }
  return rows;
}

function toAuditEntry({ at, actor: name, role, authentication, address, ...entry }: AuditRow): AuditEntry {
  return { ...entry, deed: entry.action, at: at.toISOString(), actor: { name, role, authentication, address } };
}

/** An action that takes several transactions has one row, which each of them adds to. Index: audit_pkey. */
export const ADDED_TO_ITS_ROW = `
  ON CONFLICT (id) DO UPDATE SET
    count = audit.count + excluded.count,
    targets = (SELECT jsonb_agg(target ORDER BY place)
               FROM jsonb_array_elements(audit.targets || excluded.targets) WITH ORDINALITY AS t (target, place)
               WHERE place <= ${MAX_AUDITED_TARGETS})`;

const GIVEN = new GivenRows<ActionDone>({
  id: ["uuid", ({ action }) => action.id],
  actor: ["text", ({ action }) => action.by.name],
  role: ["text", ({ action }) => action.by.role],
  authentication: ["text", ({ action }) => action.by.authentication],
  address: ["text", ({ action }) => action.by.address],
  request_id: ["text", ({ action }) => action.by.requestId],
  deed: ["text", ({ action }) => action.kind],
  count: ["int", ({ count }) => count],
  targets: ["jsonb", ({ targets }) => JSON.stringify(targets)],
  details: ["jsonb", ({ action }) => JSON.stringify(action.details)],
});
const RECORD = prepared(`INSERT INTO audit (${GIVEN.names()}) SELECT * FROM ${GIVEN.from()} ${ADDED_TO_ITS_ROW}`);

export async function recordActions(tx: EntityManager, done: ActionDone[]): Promise<void> {
  if (done.length === 0) return;
  await tx.query(RECORD, GIVEN.of(done));
  noteDone(tx, done);
}
