import type { ServiceView } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { Action } from "../../../operations/access/audit.ts";
import type { Refusal } from "../../../operations/refusal.ts";
import type { KnownService, ServiceRef, ServiceStore } from "../../../operations/services/service-desk.ts";
import { recordActions } from "../access/audit-rows.ts";
import { SERVICE_COLUMNS, type ServiceRow, toServiceView } from "./service-reads.ts";
import { LIVING_STATES } from "./service-states.ts";

/** Indexes: services_pkey, services_by_name. A name has had many boots; more than two need not be looked at. */
const FIND = (column: "id" | "name") => `
  SELECT id, generation, state IN (${LIVING_STATES}) AS "isLiving" FROM services
  WHERE ${column} = $1 ORDER BY state IN (${LIVING_STATES}) DESC, started_at DESC, id LIMIT 2 FOR UPDATE`;

/** Index: commands_one_per_generation. Asked again, it is sent again at once; one that has answered is left alone. */
const ASK_TO_DRAIN = `
  WITH asked AS (
    UPDATE services SET drain = 'asked', changed_xid = pg_current_xact_id() WHERE id = $1 AND drain <> 'begun'
    RETURNING id, generation
  )
  INSERT INTO commands (kind, service_id, generation, trace_context) SELECT 'drain', id, generation, $2::text FROM asked
  ON CONFLICT (service_id, generation, kind) WHERE kind IN ('report-inventory', 'probe', 'drain')
  DO UPDATE SET due_at = now(), claim_id = NULL, claimed_at = NULL`;

/** Index: services_pkey. */
const VIEW = `SELECT ${SERVICE_COLUMNS} FROM services s WHERE s.id = $1`;

export class PostgresServiceStore implements ServiceStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  askToDrain(
    ref: ServiceRef,
    action: Action,
    choose: (boots: KnownService[]) => KnownService | Refusal,
  ): Promise<ServiceView | Refusal> {
    return this.#dataSource.transaction(async (tx) => {
      const [column, value] = ref.kind === "id" ? (["id", ref.id] as const) : (["name", ref.name] as const);
      const chosen = choose(await tx.query<KnownService[]>(FIND(column), [value]));
      if ("kind" in chosen) return chosen;
      await tx.query(ASK_TO_DRAIN, [chosen.id, action.by.traceContext ?? null]);
      await tx.query("NOTIFY unacked_commands");
      await tx.query("NOTIFY unacked_changes");
      const [row] = await tx.query<[ServiceRow]>(VIEW, [chosen.id]);
      const target = { kind: "service", id: row.id, name: row.name } as const;
      await recordActions(tx, [{ action, count: 1, targets: [target] }]);
      return toServiceView(row);
    });
  }
}
