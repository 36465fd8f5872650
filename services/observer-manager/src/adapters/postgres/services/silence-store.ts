import type { DataSource } from "typeorm";
import type { SilenceStore } from "../../../operations/services/prober.ts";
import { TO_A_GENERATION } from "../commands/command-writes.ts";
import { IN_THE_FUTURE } from "../statements/time-ago.ts";
import { LIVING_STATES } from "./service-states.ts";

/** Index: services_living. One statement, as it runs for ever. */
const PROBE_SILENT = `
  WITH suspects AS (
    UPDATE services SET state = 'Suspect', changed_xid = pg_current_xact_id()
    WHERE state = 'Alive' AND last_seen_at < now() - $2 * interval '1 millisecond' RETURNING id
  ), probes AS (
    INSERT INTO commands (kind, service_id, generation)
    SELECT 'probe', id, generation FROM services
    WHERE state IN (${LIVING_STATES}) AND (last_seen_at < now() - $1 * interval '1 millisecond' OR last_seen_at ${IN_THE_FUTURE})
    ON CONFLICT (service_id, generation, kind) WHERE kind IN (${TO_A_GENERATION}) DO NOTHING RETURNING id
  )
  SELECT (SELECT count(*) FROM probes) AS probes,
         CASE WHEN EXISTS (SELECT FROM suspects) THEN pg_notify('unacked_changes', '') END AS told`;

export class PostgresSilenceStore implements SilenceStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async probeSilent(limits: { probeAfterMs: number; suspectAfterMs: number }): Promise<number> {
    const [row] = await this.#dataSource.query<{ probes: string }[]>(PROBE_SILENT, [
      limits.probeAfterMs,
      limits.suspectAfterMs,
    ]);
    return Number(row?.probes ?? 0);
  }
}
