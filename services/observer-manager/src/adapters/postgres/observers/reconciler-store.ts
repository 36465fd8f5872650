import { DOUBTFUL_STATUSES, type ServiceId } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { Sighting } from "../../../domain/observers/absence.ts";
import { UNKNOWN_TYPE_REST_MS } from "../../../domain/observers/observer-input.ts";
import type { ReconcilerStore } from "../../../operations/observers/reconciler.ts";
import { OR_SEND_AGAIN } from "../commands/command-writes.ts";
import { CONSUMES, LIVING_STATES, TAKES_WORK } from "../services/service-states.ts";
import { literals } from "../statements/sql-conditions.ts";

/**
 * Observers `o` that have been in doubt for $1 ms: nobody runs it or asks to, nothing is to be sent for it, and nothing was said of it that
 * is not understood, as that may be its end. What was changed by a clock that has been set back since counts as long ago. Indexes:
 * observers_by_status, unapplied_events_of_observers.
 */
export const IN_DOUBT = `
  o.status IN (${literals(DOUBTFUL_STATUSES)}) AND o.current_run_id IS NULL AND o.requested_run_id IS NULL
    AND (o.modified_at < now() - $1 * interval '1 millisecond' OR o.modified_at > now() + interval '1 minute')
    AND NOT EXISTS (SELECT FROM commands c WHERE c.observer_id = o.id AND c.kind = 'start')
    AND NOT EXISTS (SELECT FROM unapplied_events u WHERE u.observer_ids @> ARRAY[o.id])`;

/**
 * The pool where the message of an observer `o` is, or was: an observer that is changed to another pool leaves its own when
 * its run ends.
 */
export const MESSAGE_POOL = "coalesce(o.message_pool, o.pool)";

const POOLS = `SELECT DISTINCT ${MESSAGE_POOL} AS pool FROM observers o WHERE ${IN_DOUBT}`;
const SUSPECTS = `SELECT o.id, o.changed_xid::text AS mark FROM observers o WHERE ${IN_DOUBT} AND ${MESSAGE_POOL} = $2`;

/** Index: services_living. */
const SERVICES = `
  SELECT id, generation, state = 'Suspect' AS "isSuspect", ${CONSUMES} AS consumes,
         extract(epoch FROM inventory_at) * 1000 AS "inventoryAtMs"
  FROM services WHERE pool = $1 AND state IN (${LIVING_STATES}) ORDER BY id`;

/** This snapshot holds all that was said before the marker of then, which has been read. */
const READ_UNTIL = `
  SELECT extract(epoch FROM begun_at) * 1000 AS ms FROM absence_proofs WHERE pool = $1 AND state_seen_at IS NOT NULL`;

const NOW = "SELECT extract(epoch FROM now()) * 1000 AS ms";

const ASK = `
  INSERT INTO commands (kind, service_id, generation)
  SELECT 'report-inventory', id, generation FROM services
  WHERE state IN (${LIVING_STATES}) AND (pool = $1 OR id = $2)
  ${OR_SEND_AGAIN}`;

/** More are made due by the next look. */
const SENT_AT_ONCE = 10_000;

/**
 * Starts that were sent back, and whose type a service of their pool has by now; or whose observer is about to be paused, changed or moved, as
 * that ends what they stand for, and nobody else answers. The types are read only where one waits. What is locked is being forgotten or
 * replaced. Indexes: commands_due, observers_pkey, services_living.
 */
const SEND_KNOWN = `
  UPDATE commands SET due_at = now() WHERE id = ANY(ARRAY(
    SELECT c.id FROM commands c JOIN observers o ON o.id = c.observer_id
    WHERE c.kind = 'start' AND c.reason = 'unknown-type' AND c.claim_id IS NULL AND c.due_at > now()
      AND c.created_at < now() - ${UNKNOWN_TYPE_REST_MS} * interval '1 millisecond'
      AND (o.pending IS NOT NULL OR (${MESSAGE_POOL}, o.type) IN (
        SELECT s.pool, t ->> 'type' FROM services s CROSS JOIN jsonb_array_elements(s.type_facts) t WHERE ${TAKES_WORK}))
    LIMIT ${SENT_AT_ONCE} FOR UPDATE OF c SKIP LOCKED))`;

/** Index: runs_not_ended_on_service. */
const COUNT_OTHERWISE = `
  SELECT s.id, s.generation, s.name FROM services s
  WHERE s.state = 'Alive'
    AND s.running <> (SELECT count(*) FROM runs r WHERE r.service_id = s.id AND r.state <> 'Ended')`;

export class PostgresReconcilerStore implements ReconcilerStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async poolsInDoubt(forMs: number): Promise<string[]> {
    const rows = await this.#dataSource.query<{ pool: string }[]>(POOLS, [forMs]);
    return rows.map((row) => row.pool);
  }

  /** One snapshot, so that nothing moves between the look at the observers and that at the services. */
  sight(pool: string, forMs: number): Promise<Pick<Sighting, "suspects" | "services" | "readUntilMs" | "atMs">> {
    return this.#dataSource.transaction("REPEATABLE READ", async (tx) => {
      const [clock] = await tx.query<{ ms: string }[]>(NOW);
      const suspects = await tx.query<{ id: string; mark: string }[]>(SUSPECTS, [forMs, pool]);
      const services = await tx.query<(Sighting["services"][number] & { inventoryAtMs: string | null })[]>(SERVICES, [pool]);
      const [read] = await tx.query<{ ms: string }[]>(READ_UNTIL, [pool]);
      return {
        atMs: Number(clock?.ms),
        readUntilMs: read === undefined ? null : Number(read.ms),
        suspects: new Map(suspects.map(({ id, mark }) => [id, mark])),
        services: services.map((one) => ({
          ...one,
          inventoryAtMs: one.inventoryAtMs === null ? null : Number(one.inventoryAtMs),
        })),
      };
    });
  }

  async sendKnownStarts(): Promise<number> {
    const [, count] = await this.#dataSource.query<[unknown[], number]>(SEND_KNOWN);
    return count;
  }

  async askInventories(pool: string): Promise<void> {
    await this.#dataSource.query(ASK, [pool, null]);
  }

  async askInventory({ id }: { id: ServiceId }): Promise<void> {
    await this.#dataSource.query(ASK, [null, id]);
  }

  servicesThatCountOtherwise(): Promise<{ id: ServiceId; generation: number; name: string }[]> {
    return this.#dataSource.query(COUNT_OTHERWISE);
  }
}
