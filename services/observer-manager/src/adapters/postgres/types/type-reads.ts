import type { BrokenFile, ObserverTypeInfo, TypeList, TypeView } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { LiveTypes, TypeDirectory } from "../../../operations/types/type-check.ts";
import type { LivePool } from "../../../operations/types/unknown-type.ts";
import { LIVING_STATES } from "../services/service-states.ts";
import { prepared } from "../statements/prepared.ts";
import { TASK_SERVICE_LIVES } from "../tasks/task-services.ts";
import { TypesByHash, type TypesRow } from "./types-by-hash.ts";

/** Index: services_living. Services of one version announce the same, and are one row; without the types of the hashes $2. */
const LIVE_TYPES = prepared(`
  SELECT g.types_hash::text AS hash, g.services, g.without, pg_column_size(s.types) AS bytes,
         CASE WHEN g.types_hash <> ALL($2::bigint[]) THEN s.types END AS types
  FROM (SELECT types_hash, count(*)::int AS services, (array_agg(id))[1] AS id,
               coalesce(array_agg(name ORDER BY name) FILTER (WHERE NOT features ? 'admission'), '{}') AS without
        FROM services WHERE pool = $1 AND state IN (${LIVING_STATES}) GROUP BY types_hash) g JOIN services s USING (id)`);

/** Index: services_living. Two versions of a type are two rows. */
const ALL_TYPES = `
  SELECT t AS info, array_agg(DISTINCT s.name ORDER BY s.name) AS services, array_agg(DISTINCT s.pool ORDER BY s.pool) AS pools
  FROM services s CROSS JOIN jsonb_array_elements(s.types) t
  WHERE s.state IN (${LIVING_STATES}) GROUP BY t ORDER BY t ->> 'type', 2`;

/** Index: services_living. */
const BROKEN_FILES = `
  SELECT file, array_agg(DISTINCT s.name ORDER BY s.name) AS services
  FROM services s CROSS JOIN jsonb_array_elements(s.broken_files) file
  WHERE s.state IN (${LIVING_STATES}) GROUP BY file ORDER BY file ->> 'file'`;

/** Index: services_living. Asked for only where something was refused. */
const LIVE_POOLS = `
  SELECT s.pool, coalesce(array_agg(DISTINCT t ->> 'type') FILTER (WHERE t IS NOT NULL), '{}') AS types,
         ARRAY(SELECT DISTINCT k ->> 'type' FROM task_services w CROSS JOIN jsonb_array_elements(w.type_facts) k
               WHERE w.pool = s.pool AND w.workers > 0 AND w.${TASK_SERVICE_LIVES}) AS "taskTypes"
  FROM services s LEFT JOIN LATERAL jsonb_array_elements(s.type_facts) t ON true
  WHERE s.state IN (${LIVING_STATES}) GROUP BY s.pool ORDER BY s.pool`;

export async function listTypes(dataSource: DataSource): Promise<TypeList> {
  const [items, broken] = await Promise.all([
    dataSource.query<{ info: ObserverTypeInfo; services: string[]; pools: string[] }[]>(ALL_TYPES),
    dataSource.query<{ file: BrokenFile; services: string[] }[]>(BROKEN_FILES),
  ]);
  const types = items.map(({ info, ...where }): TypeView => ({ ...info, description: info.description ?? "", ...where }));
  return { items: types, total: items.length, broken: broken.map(({ file, services }) => ({ ...file, services })) };
}

export const livePools = (database: Pick<EntityManager, "query">): Promise<LivePool[]> =>
  database.query<LivePool[]>(LIVE_POOLS);

type LiveTypesRow = TypesRow<ObserverTypeInfo> & { services: number; without: string[] };

export class PostgresTypeDirectory implements TypeDirectory {
  readonly #database: Pick<EntityManager, "query">;
  readonly #known: TypesByHash<ObserverTypeInfo>;

  /** @param known what was read before, by others too */
  constructor(database: Pick<EntityManager, "query">, known = new TypesByHash<ObserverTypeInfo>()) {
    this.#database = database;
    this.#known = known;
  }

  async liveTypes(pool: string): Promise<LiveTypes> {
    const rows = await this.#known.read((known) => this.#database.query<LiveTypesRow[]>(LIVE_TYPES, [pool, known]));
    return {
      services: rows.reduce((sum, row) => sum + row.services, 0),
      types: rows.flatMap((row) => row.types),
      withoutAdmission: rows.flatMap((row) => row.without),
    };
  }

  livePools(): Promise<LivePool[]> {
    return livePools(this.#database);
  }
}
