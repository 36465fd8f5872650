import type { TimelineEntry, TimelinePage } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { shownTime } from "../../../domain/shown-time.ts";
import { encodeTimelineCursor } from "../../../operations/cursor.ts";
import type { ObserverRef } from "../../../operations/observers/observer-tools.ts";
import type { TimelineQuery } from "../../../operations/observers/timeline.ts";
import { findObserver } from "./observer-reads.ts";

/** Which fields, of a change. */
const CHANGED = "(SELECT string_agg(field, ', ') FROM jsonb_array_elements_text(details -> 'fields') AS field)";
/** A tolerance for a service's clock, which is not quite PostgreSQL's. */
const UNTIL_THEN = "interval '1 second'";
/** Who asked for one of these while a run `r` was there. An action on many names only ten of its targets: null for the others. */
const askedFor = (deeds: string): string =>
  `(SELECT actor FROM ending WHERE deed IN (${deeds}) AND at BETWEEN r.started_at AND r.ended_at + ${UNTIL_THEN} ORDER BY at DESC LIMIT 1)`;
/** Who made the version that a step's text names. */
const changedTo = (text: string): string =>
  `(SELECT by_version FROM changed) ->> substring(${text} FROM 'version ([0-9]+)')`;
const BEGAN_AGAIN = `(SELECT step ->> 'text' FROM jsonb_array_elements(r.story) AS step
  WHERE step ->> 'kind' = 'updated' AND step ->> 'text' LIKE 'begins again with %' ORDER BY step ->> 'atMs' DESC LIMIT 1)`;
/**
 * Who drained its service, if that was the last order to it; null: it was told to end by itself (SIGTERM). An aggregate, so that PostgreSQL
 * does not walk through all that was ever done.
 */
const DRAINED_BY = `
  SELECT (array_agg(CASE deed WHEN 'service.drain' THEN actor END ORDER BY at DESC))[1] AS by FROM audit
  WHERE e.reason = 'draining' AND targets @> jsonb_build_array(jsonb_build_object('kind', 'service', 'id', r.service_id))
    AND deed IN ('service.drain', 'service.cordon', 'service.uncordon') AND at <= r.ended_at + ${UNTIL_THEN}`;
/** Who made it end, or changed it, where somebody did. */
const BY = `
  CASE WHEN e.kind IN ('updated', 'rejected') THEN ${changedTo("e.text")}
       WHEN r.interruption IS NOT NULL THEN NULL
       WHEN e.reason IN ('stopped', 'not-wanted') THEN ${askedFor("'observer.stop', 'observer.pause'")}
       WHEN e.reason = 'restarted' THEN coalesce(${askedFor("'observer.restart'")}, ${changedTo(BEGAN_AGAIN)})
       WHEN e.reason = 'moved' THEN CASE m.asked_by WHEN 'auto' THEN 'the rebalancer' ELSE m.asked_by END
       WHEN e.reason = 'draining' THEN d.by END`;
const ENDED_WHY = `
  CASE WHEN e.reason = 'moved' THEN m.why
       WHEN e.reason = 'type-gone' THEN 'the folder of its service has its type no more'
       WHEN e.reason = 'draining' AND d.by IS NOT NULL THEN 'its service was drained'
       WHEN e.reason IN ('draining', 'service-stopped') THEN coalesce('its service ended: ' || s.end_reason, 'its service was told to end') END`;
const OF_THE_OBSERVER = "FROM runs r WHERE r.observer_id = $1";

/**
 * Indexes: observers_pkey, runs_of_observer, runs_pkey, moves_pkey, audit_of_targets. All that an observer has lived through within the retention is read for
 * each page: some hundred rows for most, tens of thousands for one that is restarted each few minutes. Who did it is looked up for the page alone.
 * `key` tells apart what happened at one moment: what stands later there comes first.
 */
const PAGE = `
  WITH asked AS (SELECT id, at, actor, deed, details FROM audit WHERE targets @> $2::jsonb), entries AS (
    SELECT o.created_at AS at, 'a' AS key, 'created' AS kind, NULL::uuid AS run_id, NULL::text AS action,
           (SELECT actor FROM asked WHERE deed = 'observer.create' ORDER BY at LIMIT 1) AS by,
           NULL::text AS reason, NULL::int AS attempt, NULL::text AS text
    FROM observers o WHERE o.id = $1
    UNION ALL SELECT at, 'b' || id, 'asked', NULL, deed, actor, NULL, NULL, ${CHANGED} FROM asked WHERE deed <> 'observer.create'
    UNION ALL SELECT r.started_at, 'c' || r.id, 'started', r.id, NULL, NULL, NULL, NULL, NULL ${OF_THE_OBSERVER} AND r.state <> 'Requested'
    UNION ALL SELECT least(now(), to_timestamp((step.value ->> 'atMs')::float8 / 1000)), 'd' || r.id || lpad(step.place::text, 3, '0'),
           step.value ->> 'kind', r.id, NULL, NULL, NULL, (step.value ->> 'attempt')::int, step.value ->> 'text'
    FROM runs r CROSS JOIN jsonb_array_elements(r.story) WITH ORDINALITY AS step (value, place) WHERE r.observer_id = $1
    UNION ALL SELECT r.ended_at, 'e' || r.id, 'ended', r.id, NULL, NULL, r.end_reason, NULL,
           coalesce(r.interruption, r.error ->> 'name' || ': ' || (r.error ->> 'message')) ${OF_THE_OBSERVER} AND r.ended_at IS NOT NULL
  ), page AS (
    SELECT * FROM entries
    WHERE $3::bigint IS NULL OR (at, key) < (timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4::text)
    ORDER BY at DESC, key DESC LIMIT $5
  )`;
/** `ending`: what may have made a run of the page end. */
const ENTRIES = `
  ${PAGE}, ending AS (
    SELECT at, actor, deed FROM asked WHERE deed IN ('observer.stop', 'observer.pause', 'observer.restart')
      AND at >= (SELECT min(r.started_at) FROM page JOIN runs r ON r.id = run_id WHERE kind = 'ended')
      AND at <= (SELECT max(at) FROM page) + ${UNTIL_THEN}
  ), changed AS (
    SELECT jsonb_object_agg(details ->> 'specVersion', actor ORDER BY at) AS by_version FROM asked
    WHERE deed = 'observer.change' AND details ->> 'specVersion' IS NOT NULL
  )
  SELECT e.at, e.key, e.kind, r.id AS run_id, r.epoch AS run_number, r.service_id, s.name AS service_name, e.action,
         coalesce(e.by, ${BY}) AS by, e.reason, e.attempt, coalesce(e.text, ${ENDED_WHY}) AS text,
         (extract(epoch FROM e.at) * 1000000)::bigint::text AS micros
  FROM page e LEFT JOIN runs r ON r.id = e.run_id LEFT JOIN services s ON s.id = r.service_id LEFT JOIN moves m ON m.run_id = r.id
  LEFT JOIN LATERAL (${DRAINED_BY}) d ON true
  ORDER BY e.at DESC, e.key DESC`;

interface Row {
  at: Date;
  key: string;
  micros: string;
  kind: TimelineEntry["kind"];
  run_id: string | null;
  run_number: number | null;
  service_id: string | null;
  service_name: string | null;
  action: TimelineEntry["action"];
  by: string | null;
  reason: TimelineEntry["reason"];
  attempt: number | null;
  text: string | null;
}

export async function readTimeline(
  dataSource: DataSource,
  ref: ObserverRef,
  { limit, after }: TimelineQuery,
): Promise<TimelinePage | undefined> {
  const observer = await findObserver(dataSource, ref);
  if (observer === undefined) return undefined;
  const target = JSON.stringify([{ kind: "observer", id: observer.id }]);
  const place = [after?.atMicros ?? null, after?.key ?? null];
  const rows = await dataSource.query<Row[]>(ENTRIES, [observer.id, target, ...place, limit + 1]);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    items: rows.slice(0, limit).map(toEntry),
    nextCursor: last === undefined ? null : encodeTimelineCursor({ atMicros: last.micros, key: last.key }),
  };
}

function toEntry({
  at,
  kind,
  run_id: id,
  run_number,
  service_id,
  service_name,
  action,
  by,
  reason,
  attempt,
  text,
}: Row): TimelineEntry {
  return {
    at: shownTime(at),
    kind,
    run: id === null ? null : { id, runNumber: run_number ?? 0 },
    service: service_id === null ? null : { id: service_id, name: service_name },
    action,
    by,
    reason,
    attempt,
    text,
  };
}
