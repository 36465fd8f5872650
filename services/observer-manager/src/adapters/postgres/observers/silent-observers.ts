import type { DataSource } from "typeorm";
import type { SilentObservers } from "../../../domain/overview/facts.ts";

/** Whether one of `observers o` is silent. Index: observers_silent. */
export const IS_SILENT = "(o.silent_since IS NOT NULL AND o.status = 'Processing')";

const BY_POOL = `
  SELECT o.pool, count(*)::int AS count, min(o.silent_since) AS since,
         (array_agg(o.name ORDER BY o.silent_since, o.id))[1:3] AS names
  FROM observers o WHERE ${IS_SILENT} GROUP BY o.pool ORDER BY o.pool`;

/** Observers that run and are not heard, by pool. */
export const silentObservers = (dataSource: DataSource): Promise<SilentObservers[]> =>
  dataSource.query<SilentObservers[]>(BY_POOL);
