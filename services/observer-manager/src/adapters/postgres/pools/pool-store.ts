import { DOUBTFUL_STATUSES, OVER_STATUSES } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { PoolStore } from "../../../operations/pools/queue-care.ts";
import { OBSERVER_COUNTS, OCCUPIED_BY_POOL } from "../observers/observer-counts.ts";
import { MESSAGE_POOL } from "../observers/reconciler-store.ts";
import { LIVING_STATES } from "../services/service-states.ts";
import { literals } from "../statements/sql-conditions.ts";

/** Observers `o` that are to be in another pool, and have no run: their messages are where they were. Index: observers_by_status. */
const LEAVES = `o.message_pool IS NOT NULL AND o.status IN (${literals(DOUBTFUL_STATUSES)})`;

/** Index: services_living. The ended services are as many as there were boots within the retention. */
const POOLS = `
  SELECT pool, bool_or(is_wanted) AS "isWanted" FROM (
    SELECT pool, true AS is_wanted FROM (${OCCUPIED_BY_POOL}) occupied
    UNION SELECT pool, false FROM ${OBSERVER_COUNTS}
    UNION SELECT o.message_pool, false FROM observers o WHERE o.message_pool IS NOT NULL AND (${LEAVES} OR o.status = 'Deleted')
    UNION SELECT pool, state IN (${LIVING_STATES}) FROM services) known
  GROUP BY pool ORDER BY pool`;

/**
 * Counts observers whose message may still be there: those that are over, and whose last message ended in no run that we know of, and those
 * that leave and wait for an end that nobody there will tell. One that has run, and of which no run is kept any more, ended longer ago than
 * the retention. It does not count unless its message is said to have stayed: it would stand for a message of one that restored books do
 * not know. Index: runs_of_observer; the observers are scanned, up to the limit.
 */
const LEFT_BEHIND = `
  SELECT count(*)::int AS count FROM (
    (SELECT o.id FROM observers o
     WHERE ${MESSAGE_POOL} = $1 AND o.status IN (${literals(OVER_STATUSES)})
       AND NOT EXISTS (SELECT FROM runs r WHERE r.observer_id = o.id AND r.revision = o.revision
                         AND r.end_reason IN ('stopped', 'failed', 'completed', 'not-wanted'))
       AND (o.epoch = 0 OR o.message_pool IS NOT NULL OR EXISTS (SELECT FROM runs r WHERE r.observer_id = o.id))
     LIMIT $2)
    UNION ALL (SELECT o.id FROM observers o WHERE o.message_pool = $1 AND ${LEAVES} LIMIT $2)) left_behind`;

export class PostgresPoolStore implements PoolStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async pools(): ReturnType<PoolStore["pools"]> {
    const rows = await this.#dataSource.query<{ pool: string; isWanted: boolean }[]>(POOLS);
    const of = (isWanted: boolean) => rows.filter((row) => row.isWanted === isWanted).map(({ pool }) => pool);
    return { wanted: of(true), leftover: of(false) };
  }

  async messagesLeftBehind(pool: string, limit: number): Promise<number> {
    const [row] = await this.#dataSource.query<{ count: number }[]>(LEFT_BEHIND, [pool, limit]);
    return row?.count ?? 0;
  }
}
