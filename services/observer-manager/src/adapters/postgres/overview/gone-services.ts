import type { DataSource } from "typeorm";
import type { GoneService } from "../../../domain/overview/facts.ts";
import { LIVING_STATES } from "../services/service-states.ts";

/** Index: services_gone, then services_by_name for each. Of each name the last that went. */
const GONE = `
  SELECT g.name, g.pool, g.host, g."goneAt" FROM (
    SELECT DISTINCT ON (name) name, pool, host, ended_at AS "goneAt" FROM services
    WHERE state = 'Gone' AND ended_at > now() - $1::float8 * interval '1 second' ORDER BY name, ended_at DESC) g
  WHERE NOT EXISTS (
    SELECT FROM services s WHERE s.name = g.name AND (s.state IN (${LIVING_STATES}) OR s.started_at > g."goneAt"))
  ORDER BY g."goneAt" DESC LIMIT 5`;

/** So long it is news. */
const LATELY_S = 600;

/** Who lost its connection lately without having said that it ends, and was not started again under its name. */
export const goneServices = (dataSource: DataSource): Promise<GoneService[]> =>
  dataSource.query<GoneService[]>(GONE, [LATELY_S]);
