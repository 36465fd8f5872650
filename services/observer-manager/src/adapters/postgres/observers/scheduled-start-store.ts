import type { ObserverId } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { DueStart, ScheduledStartStore } from "../../../operations/observers/scheduled-starts.ts";
import { ByTheNewClock } from "../statements/by-the-new-clock.ts";
import { Looks } from "../statements/looks.ts";

/** Index: observers_to_start. */
const DUE = `
  SELECT id, coalesce(when_full, 'queue') AS "whenFull" FROM observers
  WHERE status = 'Scheduled' AND start_next_at <= unacked_now() ORDER BY start_next_at LIMIT $1`;

/** Index: observers_to_start. */
const NEXT_DUE = `
  SELECT extract(epoch FROM min(start_next_at) - unacked_now())::float8 * 1000 FROM observers WHERE status = 'Scheduled'`;

const TRIED_AGAIN_AFTER = "interval '2 seconds'";

/**
 * Observers whose time has come, but for which there was no worker. Index: observers_to_start: of a million that wait for their time none
 * is read.
 */
export const LATE_TO_START = `status = 'Scheduled' AND start_problem IS NOT NULL AND start_next_at <= unacked_now() + ${TRIED_AGAIN_AFTER}`;

/** Late starts by pool and type. */
export const LATE_STARTS = `
  SELECT pool, type, count(*)::int AS count FROM observers WHERE ${LATE_TO_START} GROUP BY pool, type`;

/**
 * The first try shows as a change, later ones do not. Rows are locked in one order, so that no two managers wait for each other.
 * Index: observers_pkey.
 */
const PUT_OFF = `
  WITH those AS (SELECT id, start_problem IS NULL AS "isNew" FROM observers WHERE id = ANY($1) AND status = 'Scheduled' ORDER BY id FOR UPDATE)
  UPDATE observers o SET
    start_next_at = unacked_now() + ${TRIED_AGAIN_AFTER}, start_problem = 'no-free-worker',
    changed_xid = CASE WHEN o.start_problem IS NULL THEN pg_current_xact_id() ELSE o.changed_xid END
  FROM those WHERE o.id = those.id RETURNING those."isNew"`;

/** Index: observers_to_start. */
const TRIED_AGAIN = {
  table: "observers",
  which: "status = 'Scheduled' AND start_problem IS NOT NULL",
  dueAt: "start_at",
  nextAt: "start_next_at",
};

export class PostgresScheduledStartStore implements ScheduledStartStore {
  readonly #dataSource: DataSource;
  readonly #triedAgain: ByTheNewClock;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#triedAgain = new ByTheNewClock(dataSource, TRIED_AGAIN);
  }

  due(limit: number): Promise<DueStart[]> {
    return this.#dataSource.query(DUE, [limit]);
  }

  async nextDueInMs(): Promise<number | null> {
    await this.#triedAgain.look();
    return await Looks.of(this.#dataSource).ask(NEXT_DUE);
  }

  async putOff(ids: readonly ObserverId[]): Promise<number> {
    const [those] = await this.#dataSource.query<[{ isNew: boolean }[], number]>(PUT_OFF, [ids]);
    const { length: changed } = those.filter(({ isNew }) => isNew);
    if (changed > 0) await this.#dataSource.query("NOTIFY unacked_changes");
    return changed;
  }
}
