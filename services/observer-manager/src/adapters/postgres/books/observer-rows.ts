import type { ErrorText, ObserverId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { ObserverBook } from "../../../domain/books/observer-book.ts";
import type { RunBook } from "../../../domain/books/run-book.ts";
import { errorGroupOf } from "../../../domain/errors/error-group.ts";
import { observedSpecVersion } from "../../../domain/observers/spec-change.ts";
import { countedRestarts, WITH_RESTARTS } from "../observers/restarts.ts";
import { GivenRows, jsonOrNull } from "../statements/given-rows.ts";
import { prepared, uncounted } from "../statements/prepared.ts";

/** Reads only the name of the last error: the rest can be long, and no decision needs it. */
const OBSERVER_BOOKS = `
  SELECT id, type, status, pending, revision, spec_version AS "specVersion", needed_spec_version AS "neededSpecVersion",
         sent_spec_version AS "sentSpecVersion", rejected_update AS "rejectedUpdate", pool, message_pool AS "messagePool", epoch AS "runNumber", current_run_id AS "currentRunId",
         requested_run_id AS "requestedRunId", fencing_token::float8 AS "fencingToken",
         floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "clockMs", attempts,
         CASE WHEN last_error IS NOT NULL THEN jsonb_build_object('name', last_error -> 'name') END AS "lastError",
         CASE WHEN next_attempt_at IS NULL THEN NULL ELSE 0 END AS "nextAttemptInMs",
         (extract(epoch FROM silent_since) * 1000)::float8 AS "silentSinceMs",
         coalesce(start_at > unacked_now(), false) AS "startsLater",
         (extract(epoch FROM now() - modified_at) * 1000)::float8 AS "unchangedForMs"
  FROM observers o`;
/** Locks in id order, so that no two wait for each other in a circle. */
const LOCKED = "ORDER BY o.id FOR UPDATE OF o";
const LOCK = prepared(`${OBSERVER_BOOKS} WHERE id = ANY(${uncounted("$1", "uuid")}) ${LOCKED}`);

/** An observer with its current run, which was loaded with it or made just now. */
interface Written {
  o: ObserverBook;
  run: RunBook | undefined;
}

const isWhole = (error: ObserverBook["lastError"]): error is ErrorText => error !== null && "message" in error;

const GIVEN = new GivenRows<Written>({
  id: ["uuid", ({ o }) => o.id],
  status: ["text", ({ o }) => o.status],
  pending: ["text", ({ o }) => o.pending],
  revision: ["int", ({ o }) => o.revision],
  epoch: ["int", ({ o }) => o.runNumber],
  current_run_id: ["uuid", ({ o }) => o.currentRunId],
  current_service_id: ["uuid", ({ run }) => run?.serviceId ?? null],
  requested_run_id: ["uuid", ({ o }) => o.requestedRunId],
  fencing_token: ["bigint", ({ o }) => o.fencingToken],
  spec_version: ["int", ({ o }) => o.specVersion],
  needed_spec_version: ["int", ({ o }) => o.neededSpecVersion],
  sent_spec_version: ["int", ({ o }) => o.sentSpecVersion],
  observed_spec_version: ["int", ({ o, run }) => observedSpecVersion(o, run)],
  message_pool: ["text", ({ o }) => o.messagePool],
  rejected_update: ["jsonb", ({ o }) => jsonOrNull(o.rejectedUpdate)],
  attempts: ["int", ({ o }) => o.attempts],
  keeps_error: ["boolean", ({ o: { lastError: e } }) => e !== null && !isWhole(e)],
  last_error: ["jsonb", ({ o: { lastError: e } }) => (isWhole(e) ? JSON.stringify(e) : null)],
  error_group: ["text", ({ o: { lastError: e } }) => (isWhole(e) ? errorGroupOf(`${e.name}: ${e.message}`) : null)],
  next_ms: ["float8", ({ o }) => o.nextAttemptInMs],
  silent_ms: ["float8", ({ o }) => o.silentSinceMs],
  restarts: ["int", ({ o }) => countedRestarts(o.restarts)],
});
/** These are no columns of the table: columns are computed from them. */
const NOT_KEPT = ["next_ms", "silent_ms", "restarts"];
const OF_ERROR = ["keeps_error", "last_error", "error_group"];

/**
 * An error that is kept is not looked at. Compared, or written back as it was read, it would be fetched from TOAST, parsed, and written
 * there anew with each thing that is told of an observer that has ever failed.
 *
 * The rows are locked; which run may speak for its observer was decided under that lock (domain/observers/current-run.ts).
 */
const WRITE = prepared(`
  UPDATE observers o SET
    ${GIVEN.assigned("u", ["id", ...NOT_KEPT, ...OF_ERROR])},
    last_error = CASE WHEN u.keeps_error THEN o.last_error ELSE u.last_error END,
    error_group = CASE WHEN u.keeps_error THEN o.error_group ELSE u.error_group END,
    last_error_at = CASE WHEN NOT u.keeps_error AND u.last_error IS NULL THEN NULL
                         WHEN u.attempts > o.attempts THEN now()
                         WHEN NOT u.keeps_error AND u.last_error IS DISTINCT FROM o.last_error THEN now()
                         ELSE o.last_error_at END,
    next_attempt_at = CASE WHEN u.next_ms IS NULL THEN NULL WHEN u.next_ms = 0 THEN coalesce(o.next_attempt_at, now())
                           ELSE now() + u.next_ms * interval '1 millisecond' END,
    silent_since = CASE WHEN u.silent_ms IS NOT NULL THEN least(to_timestamp(u.silent_ms / 1000), now()) END,
    restarted_at = ${WITH_RESTARTS},
    modified_at = now(), changed_xid = pg_current_xact_id()
  FROM ${GIVEN.from(false)}
  WHERE o.id = u.id`);

export const lockObservers = (tx: EntityManager, ids: ObserverId[]) => tx.query<ObserverBook[]>(LOCK, [ids]);

/**
 * Locks the rows of `observers o` that match `like`. PostgreSQL checks that once more when it has the lock.
 *
 * @param like SQL behind FROM: conditions, or a join of what has no columns but `id` in common with observers
 */
export const lockObserversLike = (tx: EntityManager, like: string, parameters: unknown[]) =>
  tx.query<ObserverBook[]>(`${OBSERVER_BOOKS} ${like} ${LOCKED}`, parameters);

/** @returns the statement and its parameters */
export function observersToWrite(observers: ObserverBook[], runs: ReadonlyMap<string, RunBook>): [string, unknown[]] {
  const rows = observers.map((o) => ({ o, run: o.currentRunId === null ? undefined : runs.get(o.currentRunId) }));
  return [WRITE, GIVEN.of(rows)];
}
