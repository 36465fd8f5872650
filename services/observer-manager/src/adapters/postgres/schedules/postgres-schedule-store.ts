import type { OccurrenceStatusName, OccurrenceView, ScheduleView } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { Definition } from "../../../domain/schedules/definition.ts";
import { type Action, doneToSchedule } from "../../../operations/access/audit.ts";
import type {
  Decided,
  Plan,
  ScheduleState,
  ScheduleStore,
  ScheduleWork,
} from "../../../operations/schedules/schedule-store.ts";
import { recordActions } from "../access/audit-rows.ts";
import { againAfterDeadlock } from "../statements/deadlock.ts";
import { rethrowRefused } from "../statements/refused.ts";
import { writeDecisions } from "./decision-writes.ts";
import { isoOf, LOCK_ONE, type StateRow, toState, underWayOf } from "./schedule-rows.ts";
import { findOccurrence, listOccurrences, listSchedules, scheduleOf } from "./schedule-view.ts";

const NOW = "SELECT floor(extract(epoch FROM unacked_now()) * 1000)::float8 AS ms";
/**
 * Index: schedules_pkey. One that is there already is locked, and nobody deletes it from then on: DO UPDATE locks the row also where its
 * WHERE does not hold (https://www.postgresql.org/docs/current/sql-insert.html#SQL-ON-CONFLICT).
 */
const CREATE = `
  WITH fresh AS (
    INSERT INTO schedules (id, kind, type, definition, next_at, due_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (id) DO UPDATE SET id = schedules.id WHERE false RETURNING id)
  SELECT id FROM fresh`;
const IS_SAME = "SELECT definition = $2::jsonb AS same FROM schedules WHERE id = $1";
/** `wanted` is reset: it was what another version wanted of observers. */
const REPLACE = `
  UPDATE schedules SET kind = $2, type = $3, definition = $4, next_at = CASE WHEN paused_at IS NULL THEN $5::timestamptz END,
    due_at = CASE WHEN paused_at IS NULL THEN $6::timestamptz END, version = version + 1, wanted = NULL, change_at = NULL, problem = NULL, updated_at = unacked_now() WHERE id = $1`;
const LEAVE_OBSERVERS = "DELETE FROM schedule_observers WHERE schedule_id = $1";
/** Drops what is queued of a schedule that has no task any more. Index: occurrences_queued. */
const DROP_QUEUED =
  "UPDATE occurrences SET status = 'skipped', reason = 'changed' WHERE schedule_id = $1 AND status = 'queued'";
const REMOVE = "DELETE FROM schedules WHERE id = $1";
const PAUSE = `
  UPDATE schedules SET paused_at = unacked_now(), paused_by = $2, next_at = NULL, due_at = NULL WHERE id = $1`;
const RESUME = `
  UPDATE schedules SET paused_at = NULL, paused_by = NULL, next_at = $2, due_at = $3, wanted = NULL, change_at = NULL, problem = NULL
  WHERE id = $1`;
/** Index: occurrences_pkey. */
const EXISTING = "SELECT at, status FROM occurrences WHERE schedule_id = $1 AND at >= $2 AND at < $3";
/** Index: occurrences_asked. The schedule is locked: nobody else is making it just now. */
const REQUESTED = "SELECT at, request_overlap AS overlap FROM occurrences WHERE schedule_id = $1 AND request_id = $2";
const READ = `
  SELECT definition, version, floor(extract(epoch FROM next_at) * 1000)::float8 AS "nextMs",
         floor(extract(epoch FROM last_at) * 1000)::float8 AS "lastMs" FROM schedules WHERE id = $1`;

/** What REST does to schedules. */
export class PostgresScheduleStore implements ScheduleStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  put(
    id: string,
    definition: Definition,
    plan: Parameters<ScheduleStore["put"]>[2],
    action: Action,
  ): ReturnType<ScheduleStore["put"]> {
    const write = this.#dataSource.transaction(async (tx) => {
      const kind = await this.#createOrReplace(tx, id, definition, plan);
      if (kind !== "exists") await recordActions(tx, [doneToSchedule(action, id)]);
      return { kind, schedule: (await scheduleOf(tx, id)) as ScheduleView } as const;
    });
    return write.catch(rethrowRefused);
  }

  async #createOrReplace(tx: EntityManager, id: string, definition: Definition, plan: Parameters<ScheduleStore["put"]>[2]) {
    return (await this.#create(tx, id, definition, plan)) ? "created" : this.#replace(tx, id, definition, plan);
  }

  async #create(tx: EntityManager, id: string, definition: Definition, plan: Parameters<ScheduleStore["put"]>[2]) {
    const { nextMs, dueMs } = plan(undefined, await nowOf(tx));
    const [created] = await tx.query<{ id: string }[]>(CREATE, [...columnsOf(id, definition), isoOf(nextMs), isoOf(dueMs)]);
    return created !== undefined;
  }

  async #replace(tx: EntityManager, id: string, definition: Definition, plan: Parameters<ScheduleStore["put"]>[2]) {
    const [row] = await tx.query<StateRow[]>(LOCK_ONE, [id]);
    if (row === undefined) throw new Error(`the schedule ${id} is locked, and is not there`);
    const [{ same } = { same: false }] = await tx.query<{ same: boolean }[]>(IS_SAME, [id, JSON.stringify(definition)]);
    if (same) return "exists";
    const { nextMs, dueMs, decision } = plan(toState(row), row.nowMs);
    if (decision !== undefined) await writeDecisions(tx, [decision]);
    await tx.query(REPLACE, [...columnsOf(id, definition), isoOf(nextMs), isoOf(dueMs)]);
    await tx.query(LEAVE_OBSERVERS, [id]);
    if (definition.kind === "observers") await tx.query(DROP_QUEUED, [id]);
    return "replaced";
  }

  remove(id: string, action: Action): Promise<boolean> {
    return this.#dataSource.transaction(async (tx) => {
      const [, removed] = await tx.query<[unknown[], number]>(REMOVE, [id]);
      if (removed > 0) await recordActions(tx, [doneToSchedule(action, id)]);
      return removed > 0;
    });
  }

  pause(id: string, missed: Parameters<ScheduleStore["pause"]>[1], action: Action): ReturnType<ScheduleStore["pause"]> {
    return this.#dataSource.transaction(async (tx) => {
      const [row] = await tx.query<StateRow[]>(LOCK_ONE, [id]);
      if (row?.isPaused === false) {
        const decision = missed(toState(row), row.nowMs);
        if (decision !== undefined) await writeDecisions(tx, [decision]);
        await tx.query(PAUSE, [id, action.by.name]);
        await recordActions(tx, [doneToSchedule(action, id)]);
      }
      return scheduleOf(tx, id);
    });
  }

  resume(
    id: string,
    plan: (before: ScheduleState, nowMs: number) => Plan,
    action: Action,
  ): Promise<ScheduleView | undefined> {
    return this.#dataSource.transaction(async (tx) => {
      const [row] = await tx.query<StateRow[]>(LOCK_ONE, [id]);
      if (row?.isPaused === true) {
        const { nextMs, dueMs } = plan(toState(row), row.nowMs);
        await tx.query(RESUME, [id, isoOf(nextMs), isoOf(dueMs)]);
        await tx.query(LEAVE_OBSERVERS, [id]);
        await recordActions(tx, [doneToSchedule(action, id)]);
      }
      return scheduleOf(tx, id);
    });
  }

  change<Answer>(
    id: string,
    work: ScheduleWork<Answer>,
    action: Action,
  ): Promise<{ answer: Answer; decided: Decided } | undefined> {
    const write = async (tx: EntityManager) => {
      const [row] = await tx.query<StateRow[]>(LOCK_ONE, [id]);
      if (row === undefined) return undefined;
      const underWay = (await underWayOf(tx, [id]))(id);
      const existing = async (fromMs: number, toMs: number) => {
        const rows = await tx.query<{ at: Date; status: OccurrenceStatusName }[]>(EXISTING, [
          id,
          isoOf(fromMs),
          isoOf(toMs),
        ]);
        return new Map(rows.map(({ at, status }) => [at.getTime(), status]));
      };
      const requested = async (requestId: string) => {
        const [made] = await tx.query<{ at: Date; overlap: string | null }[]>(REQUESTED, [id, requestId]);
        return made && { atMs: made.at.getTime(), overlap: made.overlap };
      };
      const state = { ...toState(row), underWay };
      const { decision, answer } = await work(state, row.nowMs, { existing, requested });
      const decided = await writeDecisions(tx, decision === undefined ? [] : [decision]);
      if (decision !== undefined) await recordActions(tx, [doneToSchedule(action, id)]);
      return { answer, decided };
    };
    // The ledger may lock two of the tasks the other way round.
    return againAfterDeadlock(() => this.#dataSource.transaction(write));
  }

  find(id: string): Promise<ScheduleView | undefined> {
    return scheduleOf(this.#dataSource, id);
  }

  async read(id: string): ReturnType<ScheduleStore["read"]> {
    const [row] = await this.#dataSource.query<NonNullable<Awaited<ReturnType<ScheduleStore["read"]>>>[]>(READ, [id]);
    return row;
  }

  nowMs(): Promise<number> {
    return nowOf(this.#dataSource);
  }

  list(query: Parameters<ScheduleStore["list"]>[0]): ReturnType<ScheduleStore["list"]> {
    return listSchedules(this.#dataSource, query);
  }

  findOccurrence(id: string, atMs: number): Promise<OccurrenceView | undefined> {
    return findOccurrence(this.#dataSource, id, atMs);
  }

  async listOccurrences(
    id: string,
    query: Parameters<ScheduleStore["listOccurrences"]>[1],
  ): ReturnType<ScheduleStore["listOccurrences"]> {
    if ((await this.read(id)) === undefined) return undefined;
    return await listOccurrences(this.#dataSource, id, query);
  }
}

const columnsOf = (id: string, definition: Definition): unknown[] => [
  id,
  definition.kind,
  definition.kind === "task" ? definition.task.type : null,
  JSON.stringify(definition),
];

async function nowOf(db: DataSource | EntityManager): Promise<number> {
  const [row] = await db.query<{ ms: number }[]>(NOW);
  return (row as { ms: number }).ms;
}
