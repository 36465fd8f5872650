import { LIVING_SERVICE_STATES } from "@unacked/contracts";
import { literals } from "../statements/sql-conditions.ts";

/** States of services that are not known to be gone: the predicate of the index services_living, word for word. */
export const LIVING_STATES = literals(LIVING_SERVICE_STATES);

/** Of a service `s`: it may take what is sent now. */
export const TAKES_WORK = `s.state IN (${LIVING_STATES}) AND s.drain = 'none'`;

const IS_DRAINING = "drain IN ('begun', 'cordoned')";

/** Columns of each living service by which an absence is judged. */
export const STANDING = `id, generation, state = 'Suspect' AS "isSuspect", ${IS_DRAINING} AS "isDraining"`;

/** Whether it has a consumer, by its own last word. */
export const CONSUMES = `NOT ${IS_DRAINING} AND not_consuming IS NULL`;
