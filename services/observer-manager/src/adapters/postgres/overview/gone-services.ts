import type { DataSource } from "typeorm";
import type { GoneService } from "../../../domain/overview/facts.ts";
import { LIVING_STATES } from "../services/service-states.ts";

/** The last service of each name that went. Index: services_gone, then services_by_name for each. */
const GONE = `
  SELECT g.name, g.pool, g.host, g."goneAt" FROM (
    SELECT DISTINCT ON (name) name, pool, host, ended_at AS "goneAt" FROM services
    WHERE state = 'Gone' AND ended_at > now() - $1::float8 * interval '1 second' ORDER BY name, ended_at DESC) g
  WHERE NOT EXISTS (
    SELECT FROM services s WHERE s.name = g.name AND (s.state IN (${LIVING_STATES}) OR s.started_at > g."goneAt"))
  ORDER BY g."goneAt" DESC LIMIT 5`;

/** A loss is reported for so long. */
const LATELY_S = 600;

/** Services that lost their connection lately without having said that they end, and were not started again under their name. */
export const goneServices = (dataSource: DataSource): Promise<GoneService[]> =>
  dataSource.query<GoneService[]>(GONE, [LATELY_S]);
