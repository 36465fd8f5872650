import type { DataSource } from "typeorm";
import type { SilenceStore } from "../../flows/prober.ts";

/** Index: services_living. */
const SUSPECT = `
  UPDATE services SET state = 'Suspect', changed_xid = pg_current_xact_id()
  WHERE state = 'Alive' AND last_seen_at < now() - $1 * interval '1 millisecond'`;

const PROBE = `
  INSERT INTO commands (kind, service_id, generation)
  SELECT 'probe', id, generation FROM services
  WHERE state IN ('Alive', 'Suspect') AND last_seen_at < now() - $1 * interval '1 millisecond'
  ON CONFLICT (service_id, generation, kind) WHERE kind IN ('report-inventory', 'probe') DO NOTHING
  RETURNING id`;

export class PostgresSilenceStore implements SilenceStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  probeSilent(limits: { probeAfterMs: number; suspectAfterMs: number }): Promise<number> {
    return this.#dataSource.transaction(async (tx) => {
      const [, suspects] = await tx.query<[unknown[], number]>(SUSPECT, [limits.suspectAfterMs]);
      const probes = await tx.query<unknown[]>(PROBE, [limits.probeAfterMs]);
      if (suspects > 0) await tx.query("NOTIFY unacked_changes");
      if (probes.length > 0) await tx.query("NOTIFY unacked_commands");
      return probes.length;
    });
  }
}
