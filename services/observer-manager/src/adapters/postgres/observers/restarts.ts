import type { DataSource } from "typeorm";
import type { RestartedObservers } from "../../../domain/overview/facts.ts";

/** How far back restarts count, and how many of an observer do. */
const WINDOW = "interval '10 minutes'";
const MAX_COUNTED = 100;
/** From so many in the window on it is reported: one or two happen to anybody. */
const MANY = 5;

/** How many restarts of `observers o` lie in the window, as SQL. */
export const RESTARTS_LATELY = `(SELECT count(*)::int FROM unnest(o.restarted_at) AS r (at) WHERE r.at > now() - ${WINDOW})`;

/** Limits what one write adds: a service tells in one number how many attempts there were, and each would be an entry. */
export const countedRestarts = (restarts = 0): number => Math.min(restarts, MAX_COUNTED);

/** What `restarted_at` of `observers o` becomes by `u.restarts` more, as many of them as count. */
export const WITH_RESTARTS = `CASE WHEN u.restarts = 0 THEN o.restarted_at ELSE ARRAY(
      SELECT r.at FROM (SELECT unnest(o.restarted_at) UNION ALL SELECT now() FROM generate_series(1, u.restarts)) AS r (at)
      WHERE r.at > now() - ${WINDOW} ORDER BY r.at DESC LIMIT ${MAX_COUNTED}) END`;

/** Index: observers_restarted. A restart within the window also wrote the row within it (`modified_at`). */
const OFTEN = `
  SELECT pool, count(*)::int AS count, max(restarts) AS most, (array_agg(name ORDER BY restarts DESC, name))[1:3] AS names
  FROM (SELECT o.pool, o.name, ${RESTARTS_LATELY} AS restarts FROM observers o
        WHERE cardinality(o.restarted_at) >= ${MANY} AND o.modified_at > now() - ${WINDOW} AND o.status <> 'Deleted') often
  WHERE restarts >= ${MANY} GROUP BY pool ORDER BY pool`;

/** Observers that began again and again, by pool. */
export const restartedObservers = (dataSource: DataSource): Promise<RestartedObservers[]> =>
  dataSource.query<RestartedObservers[]>(OFTEN);
