import type { ObserverId, RunId, ServiceId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { Books, InventoryParts, type ObserverBook, type RunBook, type ServiceBook } from "../../../domain/books/books.ts";
import type { ReceivedMessage } from "../../../domain/books/received-message.ts";
import { errorGroupOf } from "../../../domain/errors/error-group.ts";
import { observedSpecVersion } from "../../../domain/observers/spec-change.ts";
import { allInOrder } from "../../../operations/all-in-order.ts";
import { writeCommands } from "../commands/command-writes.ts";
import { prepared, uncounted } from "../connection/prepared.ts";
import { GIVEN_BACK, QUEUE_MARKER_SEEN } from "../observers/proof-store.ts";
import { WITH_RESTARTS } from "../observers/restarts.ts";
import { addRunFigures } from "../observers/run-figures.ts";
import { LIVING_STATES } from "../services/service-states.ts";
import { writeCheckpoints } from "./checkpoint-writes.ts";

/** Locked in id order before anything else, so that two ledgers (a take-over) cannot wait for each other. */
const LOCK_SERVICES = prepared(`
  SELECT id, name, pool, state, drain, generation, last_seq AS "lastSeq", worker_count AS "workerCount", running, types, version,
         host, pid, heartbeat_ms AS "heartbeatMs", memory_bytes AS "memoryBytes", event_loop_lag_ms AS "eventLoopLagMs",
         end_reason AS "endReason", broker_loss AS "brokerLoss", features, broken_files AS "brokenFiles",
         slots, slot_deaths AS "slotDeaths", slot_deaths_lately AS "slotDeathsLately", not_consuming AS "notConsuming", emits,
         reload_id AS "reloadId", reload_answer AS "reloadAnswer"
  FROM services WHERE id = ANY($1) ORDER BY id FOR UPDATE`);

/** Index: services_by_name. */
const NAMESAKES = `
  SELECT id, name, generation FROM services
  WHERE name = ANY($1) AND state IN (${LIVING_STATES}) AND NOT id = ANY($2)`;

/** Index: runs_not_ended_on_service. */
const OBSERVERS_ON_SERVICES = `SELECT DISTINCT observer_id AS id FROM runs WHERE service_id = ANY($1) AND state <> 'Ended'`;

const OBSERVER_BOOKS = `
  SELECT id, type, status, pending, revision, spec_version AS "specVersion", needed_spec_version AS "neededSpecVersion",
         sent_spec_version AS "sentSpecVersion", rejected_update AS "rejectedUpdate", pool, message_pool AS "messagePool", epoch, current_run_id AS "currentRunId",
         requested_run_id AS "requestedRunId", fencing_token::float8 AS "fencingToken",
         floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "clockMs", attempts, last_error AS "lastError",
         CASE WHEN next_attempt_at IS NULL THEN NULL ELSE 0 END AS "nextAttemptInMs",
         (extract(epoch FROM silent_since) * 1000)::float8 AS "silentSinceMs",
         coalesce(start_at > unacked_now(), false) AS "startsLater",
         (extract(epoch FROM now() - modified_at) * 1000)::float8 AS "unchangedForMs"
  FROM observers o`;
const LOCK = "ORDER BY o.id FOR UPDATE OF o";
const LOCK_OBSERVERS = prepared(`${OBSERVER_BOOKS} WHERE id = ANY(${uncounted("$1", "uuid")}) ${LOCK}`);

/** Indexes: runs_pkey, runs_not_ended_on_service. */
const RUNS = prepared(`
  SELECT id, observer_id AS "observerId", service_id AS "serviceId", generation, message_id AS "messageId", revision, epoch,
         fencing_token::float8 AS "fencingToken", delivery_count AS "deliveryCount", spec_version AS "specVersion", state,
         extract(epoch FROM started_at) * 1000 AS "startedAtMs",
         extract(epoch FROM ended_at) * 1000 AS "endedAtMs", end_reason AS "endReason", error, interruption, story
  FROM runs WHERE id = ANY(${uncounted("$1", "uuid")}) OR (service_id = ANY(${uncounted("$2", "uuid")}) AND state <> 'Ended')`);

const WRITE_SERVICES = prepared(`
  INSERT INTO services AS s (id, name, pool, state, generation, last_seq, worker_count, running, types, version, host, pid,
                             heartbeat_ms, memory_bytes, event_loop_lag_ms, end_reason, ended_at, inventory_at,
                             broker_loss, drain, features, broken_files, answered_marker, answered_round, slots,
                             slot_deaths, slot_deaths_lately, not_consuming, emits, reload_answer)
  SELECT id, name, pool, state, generation, last_seq, worker_count, running, types::jsonb, version, host, pid,
         heartbeat_ms, memory_bytes, event_loop_lag_ms, end_reason,
         CASE WHEN state NOT IN (${LIVING_STATES}) THEN now() END, CASE WHEN gave_inventory THEN now() END,
         broker_loss::jsonb, drain, features::jsonb, broken_files::jsonb, answered_marker,
         answered_round, slots::jsonb, slot_deaths::jsonb, slot_deaths_lately, not_consuming, emits::jsonb,
         reload_answer::jsonb
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int[], $6::bigint[], $7::int[], $8::int[], $9::text[],
              $10::text[], $11::text[], $12::int[], $13::int[], $14::bigint[], $15::float8[], $16::text[],
              $17::boolean[], $18::text[], $19::text[], $20::text[], $21::text[], $22::uuid[], $23::int[], $24::text[],
              $25::text[], $26::int[], $27::text[], $28::text[], $29::text[])
    AS u (id, name, pool, state, generation, last_seq, worker_count, running, types, version, host, pid,
          heartbeat_ms, memory_bytes, event_loop_lag_ms, end_reason, gave_inventory, broker_loss, drain, features,
          broken_files, answered_marker, answered_round, slots, slot_deaths, slot_deaths_lately,
          not_consuming, emits, reload_answer)
  ON CONFLICT (id) DO UPDATE SET
    pool = excluded.pool, state = excluded.state, generation = excluded.generation, last_seq = excluded.last_seq,
    worker_count = excluded.worker_count, running = excluded.running, types = excluded.types, version = excluded.version,
    host = excluded.host, pid = excluded.pid, heartbeat_ms = excluded.heartbeat_ms, memory_bytes = excluded.memory_bytes,
    event_loop_lag_ms = excluded.event_loop_lag_ms, end_reason = excluded.end_reason,
    ended_at = CASE WHEN excluded.ended_at IS NULL THEN NULL ELSE coalesce(s.ended_at, excluded.ended_at) END,
    broker_loss = excluded.broker_loss, drain = excluded.drain, features = excluded.features,
    broken_files = excluded.broken_files, slots = excluded.slots, slot_deaths = excluded.slot_deaths,
    slot_deaths_lately = excluded.slot_deaths_lately, not_consuming = excluded.not_consuming, emits = excluded.emits,
    reload_answer = excluded.reload_answer,
    answered_marker = coalesce(excluded.answered_marker, s.answered_marker),
    answered_round = coalesce(excluded.answered_round, s.answered_round),
    inventory_at = coalesce(excluded.inventory_at, s.inventory_at),
    last_seen_at = CASE WHEN excluded.state = 'Gone' THEN s.last_seen_at ELSE now() END,
    changed_xid = pg_current_xact_id()`);

/** Times come by the wall clock of a service, which may be wrong: none is put later than now, no end before its start. */
const WRITE_RUNS = prepared(`
  INSERT INTO runs (id, observer_id, service_id, generation, message_id, revision, epoch, state, started_at, ended_at,
                    end_reason, error, delivery_count, interruption, story, spec_version, fencing_token)
  SELECT id, observer_id, service_id, generation, message_id, revision, epoch, state,
         least(to_timestamp(started_at_ms / 1000), now()),
         CASE WHEN state = 'Ended' THEN
           least(now(), greatest(to_timestamp(started_at_ms / 1000), coalesce(to_timestamp(ended_at_ms / 1000), now()))) END,
         end_reason, error::jsonb, delivery_count, interruption, story::jsonb, spec_version, fencing_token
  FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::uuid[], $6::int[], $7::int[], $8::text[], $9::float8[],
              $10::float8[], $11::text[], $12::text[], $13::int[], $14::text[], $15::text[], $16::int[], $17::bigint[])
    AS u (id, observer_id, service_id, generation, message_id, revision, epoch, state, started_at_ms, ended_at_ms,
          end_reason, error, delivery_count, interruption, story, spec_version, fencing_token)
  ON CONFLICT (id) DO UPDATE SET
    generation = excluded.generation, state = excluded.state, ended_at = excluded.ended_at,
    end_reason = excluded.end_reason, error = excluded.error, delivery_count = excluded.delivery_count,
    interruption = excluded.interruption, story = excluded.story,
    spec_version = excluded.spec_version, fencing_token = excluded.fencing_token`);

/** The rows are locked; which run may speak for its observer was decided under that lock (domain/observers/current-run.ts). */
const WRITE_OBSERVERS = prepared(`
  UPDATE observers o SET
    status = u.status, pending = u.pending, revision = u.revision, epoch = u.epoch, current_run_id = u.run_id,
    current_service_id = u.service_id, requested_run_id = u.requested_run_id, fencing_token = u.fencing_token,
    spec_version = u.spec_version, needed_spec_version = u.needed_version,
    sent_spec_version = u.sent_version, observed_spec_version = u.observed_version, message_pool = u.message_pool,
    rejected_update = u.rejected_update::jsonb,
    attempts = u.attempts, last_error = u.last_error::jsonb, error_group = u.error_group,
    last_error_at = CASE WHEN u.last_error::jsonb IS DISTINCT FROM o.last_error OR u.attempts > o.attempts
                         THEN CASE WHEN u.last_error IS NOT NULL THEN now() END ELSE o.last_error_at END,
    next_attempt_at = CASE WHEN u.next_ms IS NULL THEN NULL WHEN u.next_ms = 0 THEN coalesce(o.next_attempt_at, now())
                           ELSE now() + u.next_ms * interval '1 millisecond' END,
    silent_since = CASE WHEN u.silent_ms IS NOT NULL THEN least(to_timestamp(u.silent_ms / 1000), now()) END,
    restarted_at = ${WITH_RESTARTS},
    modified_at = now(), changed_xid = pg_current_xact_id()
  FROM unnest(${uncounted("$1", "uuid")}, $2::text[], $3::int[], $4::int[], $5::uuid[], $6::int[], $7::text[], $8::float8[],
              $9::text[], $10::uuid[], $11::text[], $12::float8[], $13::int[], $14::int[], $15::int[],
              $16::int[], $17::int[], $18::text[], $19::uuid[], $20::bigint[], $21::text[])
    AS u (id, status, revision, epoch, run_id, attempts, last_error, next_ms, error_group, service_id, pending, silent_ms,
          restarts, spec_version, needed_version, sent_version, observed_version, message_pool, requested_run_id,
          fencing_token, rejected_update)
  WHERE o.id = u.id`);

/** Loads and locks every row that these messages can touch. */
export async function loadBooks(
  tx: EntityManager,
  messages: ReceivedMessage[],
  inventories: InventoryParts,
): Promise<Books> {
  const books = new Books(inventories);
  const named = idsNamedIn(messages);
  const isOfWhole = named.wholeServices.length > 0;
  // Asked for at once, and locked in this order.
  const [services, namesakes, onServices, rows] = await allInOrder([
    tx.query<ServiceRow[]>(LOCK_SERVICES, [named.services]),
    named.bornNames.length > 0 ? tx.query<Books["namesakes"]>(NAMESAKES, [named.bornNames, named.services]) : [],
    isOfWhole ? tx.query<{ id: ObserverId }[]>(OBSERVERS_ON_SERVICES, [named.wholeServices]) : [],
    isOfWhole ? undefined : lockObservers(tx, named),
  ]);
  for (const row of services)
    books.services.set(row.id, { ...row, lastSeq: Number(row.lastSeq), memoryBytes: Number(row.memoryBytes) });
  books.namesakes.push(...namesakes);
  for (const { id } of onServices) named.observers.add(id);
  addRows(books, rows ?? (await lockObservers(tx, named)));
  return books;
}

/** Observers with their current runs, for what a client asks for. */
export async function loadObserverBooks(tx: EntityManager, ids: ObserverId[], inventories: InventoryParts): Promise<Books> {
  const books = new Books(inventories);
  addRows(books, await lockObservers(tx, { observers: new Set(ids) }));
  return books;
}

/**
 * The same of those of `observers o` that are like that: PostgreSQL looks once more when it has the lock.
 *
 * @param like SQL behind FROM: conditions, or a join of what has no columns but `id` in common with observers
 */
export async function loadObserverBooksLike(tx: EntityManager, like: string, parameters: unknown[]): Promise<Books> {
  const books = new Books(new InventoryParts());
  const observers = await tx.query<ObserverBook[]>(`${OBSERVER_BOOKS} ${like} ${LOCK}`, parameters);
  addRows(books, [observers, await currentRunsOf(tx, observers)]);
  return books;
}

type ServiceRow = ServiceBook & { lastSeq: string; memoryBytes: string };
type Rows = [observers: ObserverBook[], runs: RunBook[]];

/**
 * With the runs that are named, asked for right behind the locks, and those that the locked rows name: of what a service tells these are mostly
 * the same, and nothing more is asked. By ids that are given, and not by the rows themselves: a plan for an empty table would search one list of
 * ids through for each run.
 */
async function lockObservers(
  tx: EntityManager,
  named: { observers: Set<ObserverId>; runs?: Set<RunId>; wholeServices?: ServiceId[] },
): Promise<Rows> {
  const { runs: namedRuns = new Set(), wholeServices = [] } = named;
  if (named.observers.size === 0) return [[], []];
  const [observers, runs] = await allInOrder([
    tx.query<ObserverBook[]>(LOCK_OBSERVERS, [[...named.observers]]),
    askRuns(tx, [...namedRuns], wholeServices),
  ]);
  const asked = new Set([...namedRuns, ...runs.map(({ id }) => id)]);
  return [observers, [...runs, ...(await currentRunsOf(tx, observers, asked))]];
}

/** But for those that have been asked for. */
function currentRunsOf(
  tx: EntityManager,
  observers: ObserverBook[],
  asked: ReadonlySet<RunId> = new Set(),
): Promise<RunBook[]> {
  const ids = observers.flatMap(({ currentRunId, requestedRunId }) => [currentRunId, requestedRunId]);
  return askRuns(tx, ids.filter((id) => id !== null && !asked.has(id)) as RunId[], []);
}

const askRuns = async (tx: EntityManager, ids: RunId[], services: ServiceId[]): Promise<RunBook[]> =>
  ids.length + services.length === 0 ? [] : tx.query<RunBook[]>(RUNS, [ids, services]);

function addRows(books: Books, [observers, runs]: Rows): void {
  for (const row of observers) books.observers.set(row.id, row);
  for (const row of runs) {
    const endedAtMs = row.endedAtMs === null ? null : Number(row.endedAtMs);
    books.runs.set(row.id, { ...row, startedAtMs: Number(row.startedAtMs), endedAtMs });
  }
}

function idsNamedIn(messages: ReceivedMessage[]) {
  const services = new Set<ServiceId>();
  const wholeServices = new Set<ServiceId>();
  const observers = new Set<ObserverId>();
  const runs = new Set<RunId>();
  const bornNames = new Set<string>();
  for (const message of messages) {
    services.add(message.serviceId);
    if (message.kind === "DeathCertificate") {
      wholeServices.add(message.serviceId);
      continue;
    }
    for (const event of message.events) {
      if ("observerId" in event) observers.add(event.observerId);
      if ("runId" in event) runs.add(event.runId);
      if (event.kind === "ServiceBorn") bornNames.add(message.serviceName);
      if (event.kind === "ServiceDied" || event.kind === "Inventory") wholeServices.add(message.serviceId);
      if (event.kind !== "Inventory") continue;
      for (const run of event.runs) {
        observers.add(run.observerId);
        runs.add(run.runId);
      }
    }
  }
  return { services: [...services], wholeServices: [...wholeServices], observers, runs, bornNames: [...bornNames] };
}

/** Whether something is asked behind an answer. What is not is sent in one turn. */
export const needsAnswers = ({ startedSavers }: Books): boolean => startedSavers.size > 0;

/** One statement a table, however many events there were; sent together, and done in this order. */
export async function writeBooks(tx: EntityManager, books: Books): Promise<void> {
  const rows = rowsToWrite(books).map(([text, values]) => tx.query(text, values));
  const checkpoints = writeCheckpoints(tx, books);
  const others = () => [
    addRunFigures(tx, books.figures.rows()),
    writeCommands(tx, books),
    books.changedServices.size + books.changedObservers.size > 0 && tx.query("NOTIFY unacked_changes"),
  ];
  if (!needsAnswers(books)) return void (await allInOrder([...rows, checkpoints, ...others()]));
  await allInOrder([...rows, checkpoints]);
  await allInOrder(others());
}

/** All of it is put in columns before the first is sent. */
function rowsToWrite(books: Books): [text: string, values: unknown[]][] {
  const rows: [string, unknown[]][] = [];
  const services = [...books.changedServices];
  if (services.length > 0) rows.push([WRITE_SERVICES, serviceColumns(services)]);
  const runs = [...books.changedRuns];
  if (runs.length > 0) rows.push([WRITE_RUNS, runColumns(runs)]);
  const observers = [...books.changedObservers];
  if (observers.length > 0) rows.push([WRITE_OBSERVERS, observerColumns(observers, books.runs)]);
  if (books.markersSeen.size > 0) rows.push([QUEUE_MARKER_SEEN, [[...books.markersSeen]]]);
  const { givenBack } = books;
  const givenBackColumns = [
    givenBack.map((one) => one.markerId),
    givenBack.map((one) => one.observerId),
    givenBack.map((one) => one.agoMs),
  ];
  if (givenBack.length > 0) rows.push([GIVEN_BACK, givenBackColumns]);
  return rows;
}

function serviceColumns(services: ServiceBook[]): unknown[][] {
  return [
    services.map((s) => s.id),
    services.map((s) => s.name),
    services.map((s) => s.pool),
    services.map((s) => s.state),
    services.map((s) => s.generation),
    services.map((s) => s.lastSeq),
    services.map((s) => s.workerCount),
    services.map((s) => s.running),
    services.map((s) => JSON.stringify(s.types)),
    services.map((s) => s.version),
    services.map((s) => s.host),
    services.map((s) => s.pid),
    services.map((s) => s.heartbeatMs),
    services.map((s) => s.memoryBytes),
    services.map((s) => s.eventLoopLagMs),
    services.map((s) => s.endReason),
    services.map((s) => s.gaveInventory === true),
    services.map((s) => (s.brokerLoss === null ? null : JSON.stringify(s.brokerLoss))),
    services.map((s) => s.drain),
    services.map((s) => JSON.stringify(s.features)),
    services.map((s) => JSON.stringify(s.brokenFiles)),
    services.map((s) => s.answered?.markerId ?? null),
    services.map((s) => s.answered?.round ?? null),
    services.map((s) => JSON.stringify(s.slots)),
    services.map((s) => JSON.stringify(s.slotDeaths)),
    services.map((s) => s.slotDeathsLately),
    services.map((s) => s.notConsuming),
    services.map((s) => (s.emits === null ? null : JSON.stringify(s.emits))),
    services.map((s) => (s.reloadAnswer === null ? null : JSON.stringify(s.reloadAnswer))),
  ];
}

function runColumns(runs: RunBook[]): unknown[][] {
  return [
    runs.map((r) => r.id),
    runs.map((r) => r.observerId),
    runs.map((r) => r.serviceId),
    runs.map((r) => r.generation),
    runs.map((r) => r.messageId),
    runs.map((r) => r.revision),
    runs.map((r) => r.epoch),
    runs.map((r) => r.state),
    runs.map((r) => r.startedAtMs),
    runs.map((r) => r.endedAtMs),
    runs.map((r) => r.endReason),
    runs.map((r) => (r.error === null ? null : JSON.stringify(r.error))),
    runs.map((r) => r.deliveryCount),
    runs.map((r) => r.interruption),
    runs.map((r) => JSON.stringify(r.story)),
    runs.map((r) => r.specVersion),
    runs.map((r) => r.fencingToken),
  ];
}

/** Whatever is an observer's current run was loaded with it, or made just now. */
function observerColumns(observers: ObserverBook[], runs: Books["runs"]): unknown[][] {
  const runOf = ({ currentRunId }: ObserverBook) => (currentRunId === null ? undefined : runs.get(currentRunId));
  return [
    observers.map((o) => o.id),
    observers.map((o) => o.status),
    observers.map((o) => o.revision),
    observers.map((o) => o.epoch),
    observers.map((o) => o.currentRunId),
    observers.map((o) => o.attempts),
    observers.map((o) => (o.lastError === null ? null : JSON.stringify(o.lastError))),
    observers.map((o) => o.nextAttemptInMs),
    observers.map((o) => (o.lastError === null ? null : errorGroupOf(`${o.lastError.name}: ${o.lastError.message}`))),
    observers.map((o) => runOf(o)?.serviceId ?? null),
    observers.map((o) => o.pending),
    observers.map((o) => o.silentSinceMs),
    observers.map((o) => o.restarts ?? 0),
    observers.map((o) => o.specVersion),
    observers.map((o) => o.neededSpecVersion),
    observers.map((o) => o.sentSpecVersion),
    observers.map((o) => observedSpecVersion(o, runOf(o))),
    observers.map((o) => o.messagePool),
    observers.map((o) => o.requestedRunId),
    observers.map((o) => o.fencingToken),
    observers.map((o) => (o.rejectedUpdate === null ? null : JSON.stringify(o.rejectedUpdate))),
  ];
}
