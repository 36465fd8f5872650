import type { DataSource, EntityManager } from "typeorm";
import type { TaskDefinition } from "../../../domain/schedules/definition.ts";
import type {
  Fired,
  LaneName,
  ScheduleDecision,
  ScheduleFiringStore,
  TaskScheduleState,
} from "../../../operations/schedules/schedule-store.ts";
import { describeDatabaseError, sqlStateOf } from "../connection/database-error.ts";
import { MAX_CLAIM_BYTES, withBytesBefore } from "../statements/claim-bytes.ts";
import { againAfterDeadlock } from "../statements/deadlock.ts";
import { Looks } from "../statements/looks.ts";
import { bytesOfAll } from "../statements/page-bytes.ts";
import { writeDecisions } from "./decision-writes.ts";
import { putOff } from "./put-off.ts";
import { LANE, STATE_COLUMNS, type StateRow, toState, underWayOf } from "./schedule-rows.ts";

const BYTES = `${bytesOfAll(["definition"])} AS bytes`;

/** Rows beyond MAX_CLAIM_BYTES are locked until this set is done, and left to the next. */
const withinBytes = (found: string): string => `
  SELECT ${STATE_COLUMNS} FROM (${withBytesBefore(found, "due_at, id")}) s WHERE bytes_before < ${MAX_CLAIM_BYTES} ORDER BY due_at, id`;

/** Index: schedules_due. SKIP LOCKED: two managers share what is due. */
const DUE = withinBytes(
  `SELECT *, ${BYTES} FROM schedules WHERE kind = 'task' AND due_at <= unacked_now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
);

/** One schedule, if it is still due. Index: schedules_pkey. */
const DUE_ONE = `
  SELECT ${STATE_COLUMNS} FROM schedules s WHERE s.id = $1 AND s.kind = 'task' AND s.due_at <= unacked_now() FOR UPDATE SKIP LOCKED`;

/** Indexes: schedules_due, occurrences_queued. */
const AHEAD = `
  SELECT (SELECT (extract(epoch FROM min(due_at) - unacked_now()) * 1000)::float8 FROM schedules
          WHERE kind = 'task' AND due_at IS NOT NULL) AS "dueInMs",
         EXISTS (SELECT FROM occurrences WHERE status = 'queued') AS "isAnyQueued"`;

/**
 * Goes from each lane in which something is queued to the next: DISTINCT would read all that is queued, a thousand in each.
 * Index: occurrences_queued.
 */
const LANES_QUEUED = `
  WITH RECURSIVE q AS (
    (SELECT schedule_id, ${LANE} AS lane FROM occurrences WHERE status = 'queued' ORDER BY 1, 2 LIMIT 1)
    UNION ALL
    SELECT n.* FROM q, LATERAL (
      SELECT schedule_id, ${LANE} AS lane FROM occurrences
      WHERE status = 'queued' AND (schedule_id, ${LANE}) > (q.schedule_id, q.lane) ORDER BY 1, 2 LIMIT 1) n)
  SELECT * FROM q`;

/**
 * Schedules of which something may start: no task of its lane, and none with its key, is there. Each is looked up by itself: in a join,
 * each lane may be compared with all schedules. Indexes: schedules_pkey, occurrences_open; tasks_pkey, tasks_key.
 */
const WITH_QUEUED = withinBytes(`
  SELECT s.*, ${BYTES} FROM schedules s
  WHERE s.kind = 'task' AND s.paused_at IS NULL AND ($2::text IS NULL OR s.id = $2) AND NOT s.id = ANY($3::text[])
    AND s.id = ANY(ARRAY(
      SELECT schedule_id FROM (${LANES_QUEUED}) q
      WHERE (SELECT true FROM occurrences o WHERE o.schedule_id = q.schedule_id AND o.open AND ${LANE} = q.lane
             AND (SELECT true FROM tasks t WHERE t.id = o.task_id) LIMIT 1) IS NULL))
    AND (SELECT true FROM tasks t WHERE t.type = s.type AND t.key = s.definition #>> '{task,key}') IS NULL
  LIMIT $1 FOR UPDATE OF s SKIP LOCKED`);

/** Index: occurrences_queued. The schedule may have been changed since it was queued: its newest version holds. */
const FIRST_QUEUED = `
  SELECT f.* FROM unnest($1::text[], $2::text[]) AS idle (schedule_id, lane), LATERAL (
    SELECT o.schedule_id AS "scheduleId", at, cause, late_ms::float8 AS "lateMs", asked_by AS by FROM occurrences o
    WHERE o.schedule_id = idle.schedule_id AND status = 'queued' AND ${LANE} = idle.lane ORDER BY at LIMIT 1) f`;

interface QueuedRow {
  scheduleId: string;
  at: Date;
  cause: "time" | "catch-up" | "manual" | "backfill";
  lateMs: number;
  by: string | null;
}

/** The order in which they start if only one may. */
const LANES = ["regular", "backfill"] as const satisfies LaneName[];

type Decide = Parameters<ScheduleFiringStore["fire"]>[1];
type TaskOf = Parameters<ScheduleFiringStore["startQueued"]>[1];

/** Schedules of a failed set are written one by one for so long. */
const ONE_BY_ONE_MS = 10_000;
/** What is queued of a schedule and cannot be started is tried again after so long. */
const QUEUED_AGAIN_MS = 60_000;

export class PostgresScheduleFiringStore implements ScheduleFiringStore {
  readonly #dataSource: DataSource;
  /** When schedules are tried again whose queued ones could not be started, in ms of `performance.now()`. */
  readonly #queuedFromMs = new Map<string, number>();

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async fire(limit: number, decide: Decide): ReturnType<ScheduleFiringStore["fire"]> {
    const locked: string[] = [];
    const fired = this.#fireFound(DUE, limit, decide, locked);
    return await fired.catch((error) =>
      this.#oneByOne(error, locked, {
        write: (id) => this.#fireFound(DUE_ONE, id, decide, []),
        putOff: (id, why) => putOff(this.#dataSource, id, why),
      }),
    );
  }

  /** @param locked is filled with the ids of those that are found */
  #fireFound(due: string, which: number | string, decide: Decide, locked: string[]): Promise<Fired> {
    return this.#write(async (tx) => {
      const rows = await tx.query<StateRow[]>(due, [which]);
      locked.splice(0, locked.length, ...rows.map(({ id }) => id));
      const states = await tasksOf(tx, rows);
      const decisions = states.length === 0 ? [] : decide(states, rows[0]?.nowMs ?? 0);
      const problems = newProblems(states, decisions);
      const decided = { claimed: rows.length, decided: decisions.length, putOff: [], problems };
      return { ...(await writeDecisions(tx, decisions)), ...decided };
    });
  }

  async startQueued(limit: number, taskOf: TaskOf): ReturnType<ScheduleFiringStore["startQueued"]> {
    for (const [id, fromMs] of this.#queuedFromMs) if (fromMs <= performance.now()) this.#queuedFromMs.delete(id);
    const locked: string[] = [];
    const started = this.#startFound([limit, null, [...this.#queuedFromMs.keys()]], taskOf, locked);
    return await started.catch((error) =>
      this.#oneByOne(error, locked, {
        write: (id) => this.#startFound([1, id, []], taskOf, []),
        // It is due by its turn, and not by a time in the books.
        putOff: async (id) => void this.#queuedFromMs.set(id, performance.now() + QUEUED_AGAIN_MS),
      }),
    );
  }

  #startFound(found: [limit: number, id: string | null, but: string[]], taskOf: TaskOf, locked: string[]): Promise<Fired> {
    return this.#write(async (tx) => {
      const rows = await tx.query<StateRow[]>(WITH_QUEUED, found);
      locked.splice(0, locked.length, ...rows.map(({ id }) => id));
      const states = await tasksOf(tx, rows);
      const byId = new Map(states.map((state) => [state.id, state]));
      const idle = states.flatMap(({ id, underWay, definition }) => {
        const lanes = LANES.filter((lane) => underWay[lane].running.length === 0 && underWay[lane].queued > 0);
        // With a key only one lane may start: its task then has the key.
        return lanes.slice(0, definition.task.key === undefined ? lanes.length : 1).map((lane) => ({ id, lane }));
      });
      const first = await tx.query<QueuedRow[]>(FIRST_QUEUED, [idle.map(({ id }) => id), idle.map(({ lane }) => lane)]);
      const decisions = first.map(({ scheduleId, at, cause, lateMs, by }): ScheduleDecision => {
        const state = byId.get(scheduleId) as TaskScheduleState;
        const atMs = at.getTime();
        const task = taskOf(state, { cause, atMs });
        const occurrence = {
          atMs,
          status: "started",
          cause,
          task,
          isOpen: true,
          mayWait: true,
          lateMs,
          ...(by !== null && { by }),
        } as const;
        return {
          id: scheduleId,
          version: state.version,
          occurrences: [occurrence],
          cancel: [],
          plan: undefined,
          missed: 0,
          problem: null,
        };
      });
      return {
        ...(await writeDecisions(tx, decisions)),
        claimed: rows.length,
        decided: rows.length,
        putOff: [],
        problems: [],
      };
    });
  }

  /**
   * One of them cannot be written, and nobody knows which: each is written by itself, and that one is put off. This ends after a while, or
   * when the database is away; what is left is still due.
   */
  async #oneByOne(
    failed: unknown,
    ids: readonly string[],
    each: { write(id: string): Promise<Fired>; putOff(id: string, why: unknown): Promise<void> },
  ): Promise<Fired> {
    if (ids.length === 0 || isAway(failed)) throw failed;
    const untilMs = performance.now() + ONE_BY_ONE_MS;
    const all: Fired = {
      occurrences: [],
      created: 0,
      cancelled: 0,
      over: [],
      refuse: [],
      claimed: ids.length,
      decided: 0,
      putOff: [],
      problems: [],
    };
    for (const id of ids) {
      if (performance.now() > untilMs) break;
      try {
        addTo(all, await each.write(id));
      } catch (error) {
        if (isAway(error)) break;
        await each.putOff(id, error);
        all.putOff.push({ id, error });
      }
      all.decided += 1;
    }
    return all;
  }

  async ahead(): ReturnType<ScheduleFiringStore["ahead"]> {
    const [row] = await Looks.of(this.#dataSource).askRows<Awaited<ReturnType<ScheduleFiringStore["ahead"]>>>(AHEAD);
    return row ?? { dueInMs: null, isAnyQueued: false };
  }

  /** The ledger may lock two of the tasks the other way round. */
  async #write<Result>(work: (tx: EntityManager) => Promise<Result>): Promise<Result> {
    return await againAfterDeadlock(() => this.#dataSource.transaction(work));
  }
}

/** Problems of schedules that had none before: one that comes up each minute is reported once. */
function newProblems(states: readonly TaskScheduleState[], decisions: readonly ScheduleDecision[]): Fired["problems"] {
  const well = new Set(states.flatMap(({ id, problem }) => (problem === null ? [id] : [])));
  return decisions.flatMap(({ id, problem }) => (problem !== null && well.has(id) ? [{ id, problem }] : []));
}

/** PostgreSQL has not answered: none of the schedules is at fault. */
const isAway = (error: unknown): boolean => describeDatabaseError(error).unavailable && sqlStateOf(error) === undefined;

function addTo(all: Fired, one: Fired): void {
  all.occurrences.push(...one.occurrences);
  all.over.push(...one.over);
  all.refuse.push(...one.refuse);
  all.problems.push(...one.problems);
  all.created += one.created;
  all.cancelled += one.cancelled;
}

/** Task schedules with what is under way, read now that they are locked. */
async function tasksOf(tx: EntityManager, rows: StateRow[]): Promise<TaskScheduleState[]> {
  const underWay = await underWayOf(
    tx,
    rows.map(({ id }) => id),
  );
  return rows.flatMap((row): TaskScheduleState[] => {
    const { definition, nextMs, ...state } = toState(row);
    if (definition.kind !== "task") return [];
    return [
      {
        ...state,
        definition: definition satisfies TaskDefinition,
        nextMs: nextMs ?? row.nowMs,
        underWay: underWay(state.id),
      },
    ];
  });
}
