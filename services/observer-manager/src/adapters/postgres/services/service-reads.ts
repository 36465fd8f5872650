import type { ServiceList, ServiceReload, ServiceView, SlotDeath, SlotDeathView, SlotReport } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { DrainState, ReloadAnswer } from "../../../domain/books/service-book.ts";
import { shownTime, shownTimeOrNull } from "../../../domain/shown-time.ts";
import { LIVING_STATES } from "./service-states.ts";

/**
 * Everything a ServiceView shows, of `services s`. `running` is what the books place there, not what the service last said: it is
 * right at once, and agrees with the list of observers. Its tasks are counted only while it drains. News of tasks comes by another way
 * than the drain, which counts only once that way has told of it, too. Indexes: observers_on_service, task_services_pkey,
 * tasks_in_flight.
 */
export const SERVICE_COLUMNS = `
  s.id, s.name, s.pool, s.state, s.drain, s.worker_count, s.running AS reported_running,
  (SELECT count(*)::int FROM observers o WHERE o.current_service_id = s.id) AS running,
  (SELECT coalesce(jsonb_agg(t ->> 'type' ORDER BY t ->> 'type'), '[]') FROM jsonb_array_elements(s.type_facts) t) AS types,
  (SELECT jsonb_build_object('workers', w.workers, 'types', jsonb_path_query_array(w.type_facts, '$[*].type')) FROM task_services w
    WHERE w.id = s.id AND w.workers > 0) AS tasks,
  CASE WHEN s.drain = 'begun' THEN
    (SELECT count(*)::int FROM tasks t WHERE t.pool = s.pool AND t.status = 'Running' AND t.lease_until IS NULL AND t.service_id = s.id) ELSE 0 END AS tasks_left,
  (SELECT w.draining FROM task_services w WHERE w.id = s.id AND w.workers > 0) AS tasks_draining,
  s.version, s.host, s.pid, s.generation, s.heartbeat_ms, s.memory_bytes, s.event_loop_lag_ms, s.started_at, s.last_seen_at,
  s.ended_at, s.end_reason, s.broker_loss, s.features, s.broken_files, s.slots, s.slot_deaths,
  s.slot_deaths_lately, s.not_consuming, s.reload_id, s.reload_asked_at, s.reload_answer`;

/** One row of SERVICE_COLUMNS. */
export interface ServiceRow {
  id: string;
  name: string;
  pool: string;
  state: ServiceView["state"];
  drain: DrainState;
  worker_count: number;
  reported_running: number;
  running: number;
  types: string[];
  tasks: ServiceView["tasks"];
  tasks_left: number;
  /** Whether it has told that it takes no more tasks; null: it never takes any. */
  tasks_draining: boolean | null;
  features: string[];
  broken_files: ServiceView["brokenFiles"];
  slots: SlotReport[];
  slot_deaths: SlotDeath[];
  slot_deaths_lately: number;
  not_consuming: string | null;
  reload_id: string | null;
  reload_asked_at: Date | null;
  reload_answer: ReloadAnswer | null;
  version: string;
  host: string;
  pid: number;
  generation: number;
  heartbeat_ms: number;
  memory_bytes: string;
  event_loop_lag_ms: number;
  started_at: Date;
  last_seen_at: Date;
  ended_at: Date | null;
  end_reason: string | null;
  broker_loss: ServiceView["brokerLoss"];
}

export function toServiceView(row: ServiceRow): ServiceView {
  const { id, name, pool, state, running, types, features, version, host, pid, generation } = row;
  const isLiving = row.ended_at === null;
  const draining = row.drain === "asked" || row.drain === "begun";
  const notConsuming = isLiving ? row.not_consuming : null;
  return {
    id,
    name,
    pool,
    state,
    draining,
    cordoned: row.drain === "cordon-asked" || row.drain === "cordoned",
    drained: state === "Alive" && row.drain === "begun" && isEmpty(row),
    tasksLeft: isLiving ? row.tasks_left : 0,
    workerCount: row.worker_count,
    running,
    free: isLiving && row.drain === "none" && notConsuming === null ? Math.max(0, row.worker_count - running) : 0,
    notConsuming,
    reportedRunning: isLiving ? row.reported_running : 0,
    types,
    tasks: row.tasks && { ...row.tasks, types: row.tasks.types.toSorted() },
    features,
    version,
    host,
    pid,
    generation,
    heartbeatMs: row.heartbeat_ms,
    memoryBytes: Number(row.memory_bytes),
    eventLoopLagMs: row.event_loop_lag_ms,
    startedAt: shownTime(row.started_at),
    lastSeenAt: shownTime(row.last_seen_at),
    endedAt: shownTimeOrNull(row.ended_at),
    endReason: row.end_reason,
    reload: reloadOf(row),
    brokerLoss: row.broker_loss,
    brokenFiles: row.broken_files,
    slots: row.slots.map(({ startedAt, ...slot }) => ({ ...slot, startedAt: shownTime(startedAt) })),
    slotDeaths: row.slot_deaths.map(deathOf),
    slotDeathsLately: isLiving ? row.slot_deaths_lately : 0,
  };
}

/** Whether it is empty, both by the books and by what it says itself. */
const isEmpty = ({ running, reported_running, tasks_left, tasks_draining }: ServiceRow): boolean =>
  running === 0 && reported_running === 0 && tasks_left === 0 && tasks_draining !== false;

function deathOf({ at, culprit, culpritTask, ...death }: SlotDeath): SlotDeathView {
  const task = culpritTask && { id: culpritTask.id ?? null, type: culpritTask.type };
  return { at: shownTime(at), ...death, culprit: culprit ?? null, culpritTask: task ?? null };
}

function reloadOf({ reload_id: id, reload_asked_at: askedAt, reload_answer: answer }: ServiceRow): ServiceView["reload"] {
  if (id === null || askedAt === null) return null;
  return { id, askedAt: shownTime(askedAt), answer: answer && answerOf(answer) };
}

const answerOf = ({ at, ...told }: ReloadAnswer): NonNullable<ServiceReload["answer"]> => ({
  changed: [],
  added: [],
  gone: [],
  brokenFiles: [],
  ...told,
  at: shownTime(at),
});

/** Index: services_living. */
const LIVING = `
  SELECT ${SERVICE_COLUMNS} FROM services s WHERE s.state IN (${LIVING_STATES}) ORDER BY s.name, s.started_at, s.id`;

/** Each boot leaves a row; what ended long ago is for the retention to remove. */
const MAX_SERVICES = 1_000;

/** The living ones first, then what ended last. A scan: there are as many rows as there were boots. */
const ALL = `
  SELECT ${SERVICE_COLUMNS} FROM services s
  ORDER BY s.ended_at DESC NULLS FIRST, s.name, s.started_at, s.id LIMIT ${MAX_SERVICES}`;

const COUNT_ALL = "SELECT count(*)::int AS total FROM services";

export async function listServices(dataSource: DataSource, { all }: { all: boolean }): Promise<ServiceList> {
  const rows = await dataSource.query<ServiceRow[]>(all ? ALL : LIVING);
  const items = rows.map(toServiceView);
  if (!all) return { items, total: items.length };
  const [count] = await dataSource.query<{ total: number }[]>(COUNT_ALL);
  return { items, total: count?.total ?? items.length };
}
