import { LIVING_STATES } from "../../services/service-states.ts";
import { isServed, LIVES_FOR, TASK_SERVICE_LIVES } from "../task-services.ts";

/**
 * Whether a row `s` of task_services may live, to say why tasks wait; claims go by TASK_SERVICE_LIVES alone. A service that is not known to
 * be gone, and of which nothing at all was heard since, still has its types: the broker is away, or what it has said has yet to be read.
 */
export const MAY_LIVE = `(s.${TASK_SERVICE_LIVES} OR EXISTS (
  SELECT FROM services v
  WHERE v.id = s.id AND v.state IN (${LIVING_STATES}) AND v.last_seen_at < s.seen_at + interval '${LIVES_FOR}'))`;

/** Whether a service that may live has the type. @param pool, type as SQL */
export const mayBeServed = (pool: string, type: string): string => isServed(pool, type, MAY_LIVE);
