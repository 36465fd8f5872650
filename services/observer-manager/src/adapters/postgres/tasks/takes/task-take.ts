import { MAX_AUDITED_TARGETS } from "@unacked/contracts";
import { ADDED_TO_ITS_ROW } from "../../access/audit-rows.ts";
import { ORDER } from "../claims/claim-terms.ts";
import { AT, claimFor } from "../claims/task-claim.ts";

/** How far tests have shifted the time by which leases end, as they do for all that is due. */
const SHIFT = "(unacked_now() - now())";

/**
 * Claims for somebody outside, named $5: $2 tasks of pool $1, of the types $4, for $3 ms. Workers of services are none of his concern, so
 * it takes no lock of the pool. $6 is the action, as audit-rows writes it: in the same statement, as what is locked here must not outlast
 * it. A taker that waits is tried again under the same action, whose row may be there: of a take that has committed, and nobody heard of
 * it.
 */
export const TAKE = claimFor({
  isMine: "true",
  kept: () => "0",
  sent: "0",
  calls: "",
  room: "$2::int",
  passesLocked: true,
  set: `status = 'Running', run_id = gen_random_uuid(), started_at = ${AT}, taken_by = $5,
      lease_until = ${AT} + ${SHIFT} + $3::float8 * interval '1 millisecond',
      service_id = NULL, service_generation = NULL, service_name = NULL`,
  steps: `, recorded AS (
    INSERT INTO audit (id, actor, role, authentication, address, request_id, deed, count, targets, details)
    SELECT a.*, done.count, done.targets, '{}' FROM jsonb_to_record($6::jsonb)
        AS a (id uuid, actor text, role text, authentication text, address text, request_id text, deed text),
      (SELECT count(*)::int AS count, to_jsonb((array_agg(jsonb_build_object('kind', 'task', 'id', id, 'name', NULL) ORDER BY ${ORDER}))[1:${MAX_AUDITED_TARGETS}])
         AS targets FROM claimed) done
    WHERE done.count > 0 ${ADDED_TO_ITS_ROW}
  )`,
  returning: `lease_until AS "leaseUntil", (SELECT true FROM rooms r WHERE r.room > 0 AND NOT EXISTS (SELECT FROM claimed)
      AND (SELECT true FROM tasks t WHERE t.pool = $1 AND t.type = r.type AND t.status = 'Ready' ORDER BY ${ORDER} LIMIT 1)
      LIMIT 1) IS TRUE AS "hasPassed"`,
});
