import type { DataSource } from "typeorm";
import type { ManagerSighting } from "../../../domain/features/readers-know.ts";
import type { FeatureStore, ManagerWord } from "../../../operations/features/feature-gate.ts";
import { LIVING_STATES } from "../services/service-states.ts";

/** Also removes managers that are gone: a handful of rows. SKIP LOCKED: managers do this side by side. */
const ANNOUNCE = `
  WITH gone AS (
    DELETE FROM managers WHERE id IN (
      SELECT id FROM managers WHERE id <> $1 AND seen_at < now() - $5 * interval '1 millisecond' FOR UPDATE SKIP LOCKED))
  INSERT INTO managers (id, version, features, is_consuming) VALUES ($1, $2, $3::jsonb, $4)
  ON CONFLICT (id) DO UPDATE SET features = excluded.features, is_consuming = excluded.is_consuming, seen_at = now()`;

const ALL_LEFT = `
  SELECT features, is_consuming AS "isConsuming", seen_at < now() - $1 * interval '1 millisecond' AS "isSilent" FROM managers`;

const KNOWN = "SELECT feature FROM known_features";
const NOTE_KNOWN = "INSERT INTO known_features (feature) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING";
const FORGET_KNOWN = "DELETE FROM known_features WHERE feature = ANY($1)";

const LEAVE = "DELETE FROM managers WHERE id = $1";

/** Index: services_living. */
const IN_POOL = `SELECT features FROM services WHERE pool = $1 AND state IN (${LIVING_STATES})`;

export class PostgresFeatureStore implements FeatureStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async announce(
    { id, version, features, isConsuming }: ManagerWord,
    silentMs: number,
    goneMs: number,
  ): Promise<ManagerSighting[]> {
    await this.#dataSource.query(ANNOUNCE, [id, version, JSON.stringify(features), isConsuming, goneMs]);
    return this.#dataSource.query<ManagerSighting[]>(ALL_LEFT, [silentMs]);
  }

  async known(): Promise<string[]> {
    const rows = await this.#dataSource.query<{ feature: string }[]>(KNOWN);
    return rows.map(({ feature }) => feature);
  }

  async noteKnown(features: readonly string[]): Promise<void> {
    await this.#dataSource.query(NOTE_KNOWN, [features]);
  }

  async forgetKnown(features: readonly string[]): Promise<void> {
    await this.#dataSource.query(FORGET_KNOWN, [features]);
  }

  async leave(id: string): Promise<void> {
    await this.#dataSource.query(LEAVE, [id]);
  }

  async featuresInPool(pool: string): Promise<string[][]> {
    const rows = await this.#dataSource.query<{ features: string[] }[]>(IN_POOL, [pool]);
    return rows.map(({ features }) => features);
  }
}
