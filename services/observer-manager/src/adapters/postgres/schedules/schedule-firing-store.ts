import type { DataSource, EntityManager } from "typeorm";
import type { TaskDefinition } from "../../../domain/schedules/definition.ts";
import type {
  ScheduleDecision,
  ScheduleFiringStore,
  TaskScheduleState,
} from "../../../operations/schedules/schedule-store.ts";
import { againAfterDeadlock } from "../connection/deadlock.ts";
import { writeDecisions } from "./decision-writes.ts";
import { STATE_COLUMNS, type StateRow, standingsOf, toState } from "./schedule-rows.ts";

/** Index: schedules_due. SKIP LOCKED: two managers share what is due. */
const DUE = `
  SELECT ${STATE_COLUMNS} FROM schedules s WHERE s.kind = 'task' AND s.due_at <= unacked_now()
  ORDER BY s.due_at LIMIT $1 FOR UPDATE SKIP LOCKED`;

/** Index: schedules_due. */
const NEXT_DUE = `
  SELECT (extract(epoch FROM min(due_at) - unacked_now()) * 1000)::float8 AS ms FROM schedules WHERE kind = 'task' AND due_at IS NOT NULL`;

/** Indexes: occurrences_queued, occurrences_open; tasks_pkey. */
const WITH_QUEUED = `
  SELECT ${STATE_COLUMNS} FROM schedules s
  WHERE s.kind = 'task' AND s.paused_at IS NULL AND s.id IN (SELECT schedule_id FROM occurrences WHERE status = 'queued')
    AND NOT EXISTS (SELECT FROM occurrences o WHERE o.schedule_id = s.id AND o.open
                    AND (SELECT true FROM tasks t WHERE t.id = o.task_id))
  LIMIT $1 FOR UPDATE OF s SKIP LOCKED`;

/** Index: occurrences_queued. The schedule may have been changed since it was queued: its newest version holds. */
const FIRST_QUEUED = `
  SELECT DISTINCT ON (schedule_id) schedule_id AS "scheduleId", at, cause, late_ms::float8 AS "lateMs", asked_by AS by
  FROM occurrences WHERE schedule_id = ANY($1) AND status = 'queued' ORDER BY schedule_id, at`;

interface QueuedRow {
  scheduleId: string;
  at: Date;
  cause: "time" | "catch-up" | "manual" | "backfill";
  lateMs: number;
  by: string | null;
}

export class PostgresScheduleFiringStore implements ScheduleFiringStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  fire(
    limit: number,
    decide: (states: TaskScheduleState[], nowMs: number) => ScheduleDecision[],
  ): ReturnType<ScheduleFiringStore["fire"]> {
    return this.#write(async (tx) => {
      const rows = await tx.query<StateRow[]>(DUE, [limit]);
      const states = await tasksOf(tx, rows);
      const decisions = states.length === 0 ? [] : decide(states, rows[0]?.nowMs ?? 0);
      return { ...(await writeDecisions(tx, decisions)), claimed: rows.length, decided: decisions.length };
    });
  }

  startQueued(
    limit: number,
    taskOf: Parameters<ScheduleFiringStore["startQueued"]>[1],
  ): ReturnType<ScheduleFiringStore["startQueued"]> {
    return this.#write(async (tx) => {
      const rows = await tx.query<StateRow[]>(WITH_QUEUED, [limit]);
      const idle = (await tasksOf(tx, rows)).filter(({ running }) => running.length === 0);
      const byId = new Map(idle.map((state) => [state.id, state]));
      const first = idle.length === 0 ? [] : await tx.query<QueuedRow[]>(FIRST_QUEUED, [[...byId.keys()]]);
      const decisions = first.map(({ scheduleId, at, cause, lateMs, by }): ScheduleDecision => {
        const { definition, version } = byId.get(scheduleId) as TaskScheduleState;
        const atMs = at.getTime();
        const task = taskOf(definition, atMs);
        const occurrence = {
          atMs,
          status: "started",
          cause,
          task,
          isOpen: true,
          lateMs,
          ...(by !== null && { by }),
        } as const;
        return { id: scheduleId, version, occurrences: [occurrence], cancel: [], plan: undefined, missed: 0, problem: null };
      });
      return { ...(await writeDecisions(tx, decisions)), claimed: rows.length };
    });
  }

  async nextDueInMs(): Promise<number | null> {
    const [row] = await this.#dataSource.query<{ ms: number | null }[]>(NEXT_DUE);
    return row?.ms ?? null;
  }

  /** The ledger may lock two of the tasks the other way round. */
  async #write<Result>(work: (tx: EntityManager) => Promise<Result>): Promise<Result> {
    return await againAfterDeadlock(() => this.#dataSource.transaction(work));
  }
}

/** With what is under way, as it is now that they are locked. */
async function tasksOf(tx: EntityManager, rows: StateRow[]): Promise<TaskScheduleState[]> {
  const standing = await standingsOf(
    tx,
    rows.map(({ id }) => id),
  );
  return rows.flatMap((row): TaskScheduleState[] => {
    const { definition, nextMs, ...state } = toState(row);
    if (definition.kind !== "task") return [];
    return [
      { ...state, definition: definition satisfies TaskDefinition, nextMs: nextMs ?? row.nowMs, ...standing(state.id) },
    ];
  });
}
