import type { RunId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { Command } from "../../../domain/books/command.ts";
import type { UnknownRun } from "../../../operations/books/books-store.ts";
import { GivenRows } from "../statements/given-rows.ts";

type StopOfUnknown = Extract<Command, { kind: "stop-run" }>;

const GIVEN = new GivenRows<StopOfUnknown>({
  run_id: ["uuid", (order) => order.runId],
  observer_id: ["uuid", (order) => order.observerId],
  message_id: ["uuid", (order) => order.messageId],
  revision: ["int", (order) => order.revision],
  service_id: ["uuid", (order) => order.serviceId],
});

/** The first order of a run stands: no later one can name another service. */
const RECORD = `
  INSERT INTO unknown_runs (run_id, observer_id, message_id, revision, service_id, service_name, pool)
  SELECT u.run_id, u.observer_id, u.message_id, u.revision, u.service_id, s.name, s.pool
  FROM ${GIVEN.from()} JOIN services s ON s.id = u.service_id
  ON CONFLICT (run_id) DO NOTHING`;

/** Index: unknown_runs_pkey. */
const FIND = `
  SELECT run_id AS "runId", observer_id AS "observerId", message_id AS "messageId", revision,
         service_id AS "serviceId", service_name AS "serviceName", pool
  FROM unknown_runs WHERE run_id = ANY($1)`;

/** Notes the runs that these commands stop because the books do not have their observer; their services are written already. */
export async function recordUnknownRuns(tx: EntityManager, commands: readonly Command[]): Promise<void> {
  const orders = commands.filter((command) => command.kind === "stop-run").filter(({ reason }) => reason === "unknown");
  if (orders.length > 0) await tx.query(RECORD, GIVEN.of(orders));
}

export async function findUnknownRuns(
  database: Pick<EntityManager, "query">,
  runIds: RunId[],
): Promise<Map<RunId, UnknownRun>> {
  const rows = await database.query<(UnknownRun & { runId: RunId })[]>(FIND, [runIds]);
  return new Map(rows.map((row) => [row.runId, row]));
}
