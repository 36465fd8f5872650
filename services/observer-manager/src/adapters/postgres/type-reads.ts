import type { ObserverTypeInfo } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { TypeDirectory } from "../../flows/type-check.ts";

/** Index: services_living. Services of one version announce the same: GROUP BY folds them into one row. */
const LIVE_TYPES = `
  SELECT types, count(*) AS services FROM services
  WHERE pool = $1 AND state IN ('Alive', 'Suspect') GROUP BY types`;

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
