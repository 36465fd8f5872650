import type { ServiceView } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { DrainState } from "../../../domain/books/service-book.ts";
import type { Action } from "../../../operations/access/audit.ts";
import type { Refusal } from "../../../operations/refusal.ts";
import type { KnownService, ServiceOrder, ServiceRef, ServiceStore } from "../../../operations/services/service-desk.ts";
import { recordActions } from "../access/audit-rows.ts";
import { OR_SEND_AGAIN, TO_A_GENERATION } from "../commands/command-writes.ts";
import { SERVICE_COLUMNS, type ServiceRow, toServiceView } from "./service-reads.ts";
import { LIVING_STATES } from "./service-states.ts";

/** Indexes: services_pkey, services_by_name. A name has had many boots; more than two need not be looked at. */
const FIND = (column: "id" | "name") => `
  SELECT id, features, drain, state IN (${LIVING_STATES}) AS "isLiving" FROM services
  WHERE ${column} = $1 ORDER BY state IN (${LIVING_STATES}) DESC, started_at DESC, id LIMIT 2 FOR UPDATE`;

/** The state to which each order sets `drain`, and the states in which it changes nothing. */
const ORDERS = {
  drain: { to: "asked", unless: ["begun"] },
  cordon: { to: "cordon-asked", unless: ["asked", "begun", "cordoned"] },
  uncordon: { to: "lift-asked", unless: ["none"] },
} as const satisfies Record<Exclude<ServiceOrder, "reload">, { to: DrainState; unless: DrainState[] }>;

/** Whether the order changes nothing: then the service is told once more at most. */
function isSo(order: keyof typeof ORDERS, drain: DrainState): boolean {
  const { to, unless } = ORDERS[order];
  return [to, ...unless].includes(drain);
}

/** A service that has answered is left alone. An earlier order that was not answered is withdrawn. */
const ASK = `
  WITH asked AS (
    UPDATE services SET drain = $4, changed_xid = pg_current_xact_id() WHERE id = $1 AND drain <> ALL($5)
    RETURNING id, generation
  ), forgotten AS (
    DELETE FROM commands c USING asked WHERE c.service_id = asked.id AND c.kind IN (${TO_A_GENERATION})
      AND c.kind IN ('drain', 'cordon', 'uncordon') AND c.kind <> $2
  )
  INSERT INTO commands (kind, service_id, generation, trace_context) SELECT $2, id, generation, $3::text FROM asked
  ${OR_SEND_AGAIN}`;

/**
 * If it is asked for again, that is another load, which begins after the one that may be under way. Whoever asked before
 * recognizes the later one by its time: so that is read from the clock under the row's lock, and never goes back.
 */
const ASK_RELOAD = `
  WITH asked AS (
    UPDATE services SET reload_id = gen_random_uuid(), reload_asked_at = greatest(clock_timestamp(), reload_asked_at),
                        reload_answer = NULL,
                        changed_xid = pg_current_xact_id() WHERE id = $1
    RETURNING id, generation, reload_id
  )
  INSERT INTO commands (kind, service_id, generation, message_id, trace_context)
  SELECT 'reload', id, generation, reload_id, $2::text FROM asked
  ${OR_SEND_AGAIN}, message_id = excluded.message_id, sent_count = 0`;

/** Index: services_pkey. */
const VIEW = `SELECT ${SERVICE_COLUMNS} FROM services s WHERE s.id = $1`;

export class PostgresServiceStore implements ServiceStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  ask(
    order: ServiceOrder,
    ref: ServiceRef,
    action: Action,
    choose: (boots: KnownService[]) => KnownService | Refusal,
  ): Promise<ServiceView | Refusal> {
    return this.#dataSource.transaction(async (tx) => {
      const [column, value] = ref.kind === "id" ? (["id", ref.id] as const) : (["name", ref.name] as const);
      const chosen = choose(await tx.query<KnownService[]>(FIND(column), [value]));
      if ("kind" in chosen) return chosen;
      const traceContext = action.by.traceContext ?? null;
      if (order === "reload") await tx.query(ASK_RELOAD, [chosen.id, traceContext]);
      else await tx.query(ASK, [chosen.id, order, traceContext, ORDERS[order].to, ORDERS[order].unless]);
      await tx.query("NOTIFY unacked_commands");
      await tx.query("NOTIFY unacked_changes");
      const [row] = await tx.query<[ServiceRow]>(VIEW, [chosen.id]);
      const target = { kind: "service", id: row.id, name: row.name } as const;
      if (order === "reload" || !isSo(order, chosen.drain))
        await recordActions(tx, [{ action, count: 1, targets: [target] }]);
      return toServiceView(row);
    });
  }
}
