import type { RunId, ServiceId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { RunBook } from "../../../domain/books/run-book.ts";
import { GivenRows, jsonOrNull } from "../statements/given-rows.ts";
import { prepared, uncounted } from "../statements/prepared.ts";

const RUN = `
  SELECT id, observer_id AS "observerId", service_id AS "serviceId", generation, message_id AS "messageId", revision,
         epoch AS "runNumber", fencing_token::float8 AS "fencingToken", delivery_count AS "deliveryCount", spec_version AS "specVersion", state,
         (extract(epoch FROM started_at) * 1000)::float8 AS "startedAtMs",
         (extract(epoch FROM ended_at) * 1000)::float8 AS "endedAtMs", end_reason AS "endReason", error, interruption, story
  FROM runs`;

/*
 * Two statements, not one with OR: where few services run everything, PostgreSQL expects most of the table, reads all of it, and searches
 * the list of ids for each row. Ten thousand of ten thousand took 1.5 s and more.
 */

/** Index: runs_pkey. */
const BY_IDS = prepared(`${RUN} WHERE id = ANY(${uncounted("$1", "uuid")})`);

/** Index: runs_not_ended_on_service. */
const ON_SERVICES = prepared(`${RUN} WHERE service_id = ANY(${uncounted("$1", "uuid")}) AND state <> 'Ended'`);

const GIVEN = new GivenRows<RunBook>({
  id: ["uuid", (r) => r.id],
  observer_id: ["uuid", (r) => r.observerId],
  service_id: ["uuid", (r) => r.serviceId],
  generation: ["int", (r) => r.generation],
  message_id: ["uuid", (r) => r.messageId],
  revision: ["int", (r) => r.revision],
  epoch: ["int", (r) => r.runNumber],
  state: ["text", (r) => r.state],
  end_reason: ["text", (r) => r.endReason],
  error: ["jsonb", (r) => jsonOrNull(r.error)],
  delivery_count: ["int", (r) => r.deliveryCount],
  interruption: ["text", (r) => r.interruption],
  story: ["jsonb", (r) => JSON.stringify(r.story)],
  spec_version: ["int", (r) => r.specVersion],
  fencing_token: ["bigint", (r) => r.fencingToken],
  started_at_ms: ["float8", (r) => r.startedAtMs],
  ended_at_ms: ["float8", (r) => r.endedAtMs],
});
const TIMES = ["started_at_ms", "ended_at_ms"];
/** Columns of a run that never change. */
const FOR_GOOD = ["id", "observer_id", "service_id", "message_id", "revision", "epoch"];

/** Times are by the wall clock of a service, which may be wrong: none is stored later than now, and no end before its start. */
const WRITE = prepared(`
  INSERT INTO runs (${GIVEN.names(TIMES)}, started_at, ended_at)
  SELECT ${GIVEN.names(TIMES)},
         least(to_timestamp(started_at_ms / 1000), now()),
         CASE WHEN state = 'Ended' THEN
           least(now(), greatest(to_timestamp(started_at_ms / 1000), coalesce(to_timestamp(ended_at_ms / 1000), now()))) END
  FROM ${GIVEN.from()}
  ON CONFLICT (id) DO UPDATE SET ${GIVEN.assigned("excluded", [...FOR_GOOD, ...TIMES])}, ended_at = excluded.ended_at`);

/** Reads the runs with these ids, and all that have not ended on these services; each once. */
export async function readRuns(tx: EntityManager, ids: RunId[], services: ServiceId[]): Promise<RunBook[]> {
  const onServices = services.length > 0 ? await tx.query<RunBook[]>(ON_SERVICES, [services]) : [];
  const found = new Set(onServices.map(({ id }) => id));
  const others = ids.filter((id) => !found.has(id));
  return others.length > 0 ? [...onServices, ...(await tx.query<RunBook[]>(BY_IDS, [others]))] : onServices;
}

/** @returns the statement and its parameters */
export const runsToWrite = (runs: RunBook[]): [string, unknown[]] => [WRITE, GIVEN.of(runs)];
