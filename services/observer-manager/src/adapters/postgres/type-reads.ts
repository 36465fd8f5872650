import type { ObserverTypeInfo, TypeList, TypeView } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { TypeDirectory } from "../../flows/type-check.ts";

/** Index: services_living. Services of one version announce the same: GROUP BY folds them into one row. */
const LIVE_TYPES = `
  SELECT types, count(*) AS services FROM services
  WHERE pool = $1 AND state IN ('Alive', 'Suspect') GROUP BY types`;

/** Index: services_living. Two versions of a type are two rows. */
const ALL_TYPES = `
  SELECT t ->> 'type' AS type, coalesce(t ->> 'description', '') AS description, t -> 'paramsSchema' AS "paramsSchema",
         array_agg(DISTINCT s.name ORDER BY s.name) AS services, array_agg(DISTINCT s.pool ORDER BY s.pool) AS pools
  FROM services s CROSS JOIN jsonb_array_elements(s.types) t
  WHERE s.state IN ('Alive', 'Suspect') GROUP BY 1, 2, 3 ORDER BY 1, 4`;

export async function listTypes(dataSource: DataSource): Promise<TypeList> {
  const items = await dataSource.query<TypeView[]>(ALL_TYPES);
  return { items, total: items.length };
}

export class PostgresTypeDirectory implements TypeDirectory {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async liveTypes(pool: string): Promise<{ services: number; types: ObserverTypeInfo[] }> {
    const rows = await this.#dataSource.query<{ types: ObserverTypeInfo[]; services: string }[]>(LIVE_TYPES, [pool]);
    return {
      services: rows.reduce((sum, row) => sum + Number(row.services), 0),
      types: rows.flatMap((row) => row.types),
    };
  }
}
