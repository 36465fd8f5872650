import { isLivingService, type ObserverId, type ServiceId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { Books } from "../../../domain/books/books.ts";
import type { ServiceBook } from "../../../domain/books/service-book.ts";
import { LIVING_STATES } from "../services/service-states.ts";
import { GivenRows, jsonOrNull } from "../statements/given-rows.ts";
import { prepared } from "../statements/prepared.ts";

/**
 * Services are locked in id order before anything else, so that two ledgers (a take-over) cannot wait for each other. Their types are left
 * out: they are long, and only a birth changes them. Read and written with each batch of events, thirty types took longer than all the
 * rest.
 */
const LOCK = prepared(`
  SELECT id, name, pool, state, drain, generation, last_seq AS "lastSeq", worker_count AS "workerCount", running, version,
         host, pid, heartbeat_ms AS "heartbeatMs", memory_bytes AS "memoryBytes", event_loop_lag_ms AS "eventLoopLagMs",
         end_reason AS "endReason", broker_loss AS "brokerLoss", features, broken_files AS "brokenFiles",
         slots, slot_deaths AS "slotDeaths", slot_deaths_lately AS "slotDeathsLately", not_consuming AS "notConsuming", emits,
         reload_id AS "reloadId", reload_answer AS "reloadAnswer"
  FROM services WHERE id = ANY($1) ORDER BY id FOR UPDATE`);

/** Index: services_by_name. */
const NAMESAKES = `
  SELECT id, name, generation FROM services
  WHERE name = ANY($1) AND state IN (${LIVING_STATES}) AND NOT id = ANY($2)`;

/** Index: runs_not_ended_on_service. */
const OBSERVERS_ON = `SELECT DISTINCT observer_id AS id FROM runs WHERE service_id = ANY($1) AND state <> 'Ended'`;

const COLUMNS: ConstructorParameters<typeof GivenRows<ServiceBook>>[0] = {
  id: ["uuid", (s) => s.id],
  name: ["text", (s) => s.name],
  pool: ["text", (s) => s.pool],
  state: ["text", (s) => s.state],
  generation: ["int", (s) => s.generation],
  last_seq: ["bigint", (s) => s.lastSeq],
  worker_count: ["int", (s) => s.workerCount],
  running: ["int", (s) => s.running],
  version: ["text", (s) => s.version],
  host: ["text", (s) => s.host],
  pid: ["int", (s) => s.pid],
  heartbeat_ms: ["int", (s) => s.heartbeatMs],
  memory_bytes: ["bigint", (s) => s.memoryBytes],
  event_loop_lag_ms: ["float8", (s) => s.eventLoopLagMs],
  end_reason: ["text", (s) => s.endReason],
  broker_loss: ["jsonb", (s) => jsonOrNull(s.brokerLoss)],
  drain: ["text", (s) => s.drain],
  features: ["jsonb", (s) => JSON.stringify(s.features)],
  broken_files: ["jsonb", (s) => JSON.stringify(s.brokenFiles)],
  slots: ["jsonb", (s) => JSON.stringify(s.slots)],
  slot_deaths: ["jsonb", (s) => JSON.stringify(s.slotDeaths)],
  slot_deaths_lately: ["int", (s) => s.slotDeathsLately],
  not_consuming: ["text", (s) => s.notConsuming],
  emits: ["jsonb", (s) => jsonOrNull(s.emits)],
  reload_answer: ["jsonb", (s) => jsonOrNull(s.reloadAnswer)],
  answered_marker: ["uuid", (s) => s.answered?.markerId ?? null],
  answered_round: ["int", (s) => s.answered?.round ?? null],
  gave_inventory: ["boolean", (s) => s.gaveInventory === true],
};
const GIVEN = new GivenRows(COLUMNS);
const GIVEN_TYPES = new GivenRows<ServiceBook>({ ...COLUMNS, types: ["jsonb", (s) => JSON.stringify(s.types)] });

/** It is given, but is no column of the table. */
const NOT_KEPT = ["gave_inventory"];
/** What is not told this time stays as it was told last. */
const AS_BEFORE = ["answered_marker", "answered_round"];

/** @param beside columns with their values for a new row; a row that is there keeps its own */
const writeOf = (given: GivenRows<ServiceBook>, beside: Readonly<Record<string, string>> = {}): string => {
  const named = (names: string, others: string[]) => [names, ...others].join(", ");
  return prepared(`
  INSERT INTO services AS s (${named(given.names(NOT_KEPT), Object.keys(beside))}, ended_at, inventory_at)
  SELECT ${named(given.names(NOT_KEPT), Object.values(beside))},
         CASE WHEN state NOT IN (${LIVING_STATES}) THEN now() END, CASE WHEN gave_inventory THEN now() END
  FROM ${given.from()}
  ON CONFLICT (id) DO UPDATE SET
    ${given.assigned("excluded", ["id", "name", ...AS_BEFORE, ...NOT_KEPT])},
    ended_at = CASE WHEN excluded.ended_at IS NULL THEN NULL ELSE coalesce(s.ended_at, excluded.ended_at) END,
    answered_marker = coalesce(excluded.answered_marker, s.answered_marker),
    answered_round = coalesce(excluded.answered_round, s.answered_round),
    inventory_at = coalesce(excluded.inventory_at, s.inventory_at),
    last_seen_at = CASE WHEN excluded.state = 'Gone' THEN s.last_seen_at ELSE now() END,
    changed_xid = pg_current_xact_id()`);
};
const WRITE = writeOf(GIVEN, { types: "'[]'::jsonb" });
const WRITE_WITH_TYPES = writeOf(GIVEN_TYPES);

/**
 * Each boot leaves a row for a month, and nothing reads its schemas: a service with thirty types that begins again every five minutes would
 * leave 140 MB. A service that was given up and speaks again is asked what it runs, and introduces itself with its answer; until then any
 * params will do (`{}`). Index: services_pkey.
 */
const SHORTEN_TYPES = `
  UPDATE services SET types = (SELECT coalesce(jsonb_agg(t || '{"paramsSchema": {}}'), '[]') FROM jsonb_array_elements(type_facts) t)
  WHERE id = ANY($1)`;

type ServiceRow = ServiceBook & { lastSeq: string; memoryBytes: string };

export async function lockServices(tx: EntityManager, ids: ServiceId[]): Promise<ServiceBook[]> {
  const rows = await tx.query<ServiceRow[]>(LOCK, [ids]);
  return rows.map((row) => ({ ...row, lastSeq: Number(row.lastSeq), memoryBytes: Number(row.memoryBytes) }));
}

/** Services with these names that count as living, except those with these ids. */
export const findNamesakes = (tx: EntityManager, names: string[], ids: ServiceId[]) =>
  tx.query<Books["namesakes"]>(NAMESAKES, [names, ids]);

/** Observers with a run on these services that has not ended. */
export const findObserversOn = (tx: EntityManager, ids: ServiceId[]) => tx.query<{ id: ObserverId }[]>(OBSERVERS_ON, [ids]);

/** @returns the statements and their parameters. If a service did not tell its types, its row is there, and locked */
export function servicesToWrite(services: ServiceBook[]): [string, unknown[]][] {
  const told = services.filter(({ types }) => types !== undefined);
  const others = services.filter(({ types }) => types === undefined);
  const ended = services.filter(({ state }) => !isLivingService(state)).map(({ id }) => id);
  return [
    ...(told.length > 0 ? [[WRITE_WITH_TYPES, GIVEN_TYPES.of(told)] as [string, unknown[]]] : []),
    ...(others.length > 0 ? [[WRITE, GIVEN.of(others)] as [string, unknown[]]] : []),
    ...(ended.length > 0 ? [[SHORTEN_TYPES, [ended]] as [string, unknown[]]] : []),
  ];
}
