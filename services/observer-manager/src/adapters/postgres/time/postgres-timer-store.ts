import { MAX_TIMER_COUNT, TIMER_OVER_STATUSES, type TimerId, type TimerView } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { type Action, doneToTimers } from "../../../operations/access/audit.ts";
import type { NewTimer, PutOutcome, TimerQuery, TimerStore } from "../../../operations/time/timer-store.ts";
import { recordActions } from "../access/audit-rows.ts";
import { rethrowRefused } from "../books/postgres-books-store.ts";
import { SqlConditions, TIME_OF_MICROS } from "../connection/sql-conditions.ts";
import { putTimers } from "./timer-put.ts";
import { ENDED_COLUMNS, keepEnded, LIVE_COLUMNS, type TimerRow, timersOf, toTimerView } from "./timer-view.ts";

/** Index: timers_pkey. A claim that comes first is waited for, and then it is Firing. */
const CANCEL = `
  WITH gone AS (DELETE FROM timers WHERE id = $1 AND status = 'Waiting' RETURNING *),
       kept AS (${keepEnded("gone", "Cancelled")} RETURNING id)
  SELECT id FROM kept`;

const MICROS = "(extract(epoch FROM created_at) * 1000000)::bigint::text AS created_at_micros";

export class PostgresTimerStore implements TimerStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  put(timers: NewTimer[], action: Action): Promise<PutOutcome[]> {
    const write = this.#dataSource.transaction(async (tx) => {
      const outcomes = await putTimers(tx, timers);
      const changed = outcomes.flatMap((one) => (one.kind === "over" || one.kind === "exists" ? [] : [one.timer]));
      if (changed.length > 0) await recordActions(tx, [doneToTimers(action, changed)]);
      return outcomes;
    });
    return write.catch(rethrowRefused);
  }

  async find(id: TimerId): Promise<TimerView | undefined> {
    return (await timersOf(this.#dataSource, [id])).get(id);
  }

  cancel(id: TimerId, action: Action): ReturnType<TimerStore["cancel"]> {
    return this.#dataSource.transaction(async (tx) => {
      const [gone] = await tx.query<{ id: string }[]>(CANCEL, [id]);
      const timer = (await timersOf(tx, [id])).get(id);
      if (timer === undefined) return { kind: "not-found" } as const;
      if (gone === undefined) return { kind: "found", timer } as const;
      await recordActions(tx, [doneToTimers(action, [timer])]);
      return { kind: "cancelled", timer } as const;
    });
  }

  async list(query: TimerQuery): ReturnType<TimerStore["list"]> {
    const [rows, counted] = await Promise.all([this.#page(query), this.#count(query)]);
    const shown = rows.slice(0, query.limit);
    const last = rows.length > query.limit ? shown.at(-1) : undefined;
    return {
      items: shown.map(toTimerView),
      total: Math.min(counted, MAX_TIMER_COUNT),
      isTotalExact: counted <= MAX_TIMER_COUNT,
      ...(last && { last: { createdAtMicros: last.created_at_micros, id: last.id } }),
    };
  }

  /** Both tables in one order; indexes: timers_newest, timers_of_name, and the same of the ended. */
  #page(query: TimerQuery): Promise<(TimerRow & { created_at_micros: string })[]> {
    const conditions = conditionsOf(query);
    if (query.after !== undefined)
      conditions.and(`(created_at, id) < (${TIME_OF_MICROS}, ?::uuid)`, query.after.createdAtMicros, query.after.id);
    const limit = conditions.parameter(query.limit + 1);
    const part = (columns: string, table: string): string =>
      `(SELECT ${columns}, ${MICROS} FROM ${table} ${conditions.where} ORDER BY created_at DESC, id DESC LIMIT ${limit})`;
    const listed = partsOf(query, part(LIVE_COLUMNS, "timers"), part(ENDED_COLUMNS, "ended_timers")).join(" UNION ALL ");
    const sql = `SELECT * FROM (${listed}) listed ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
    return this.#dataSource.query(sql, conditions.parameters);
  }

  async #count(query: TimerQuery): Promise<number> {
    const conditions = conditionsOf(query);
    const limit = conditions.parameter(MAX_TIMER_COUNT + 1);
    const part = (table: string): string => `(SELECT 1 FROM ${table} ${conditions.where} LIMIT ${limit})`;
    const parts = partsOf(query, part("timers"), part("ended_timers"));
    const sql = `SELECT count(*)::int AS total FROM (${parts.join(" UNION ALL ")}) found`;
    const [row] = await this.#dataSource.query<{ total: number }[]>(sql, conditions.parameters);
    return row?.total ?? 0;
  }
}

/** Only of the table that can have some. */
function partsOf({ statuses }: TimerQuery, live: string, ended: string): string[] {
  const isOver = (status: string) => (TIMER_OVER_STATUSES as readonly string[]).includes(status);
  return [...(statuses?.every(isOver) ? [] : [live]), ...(statuses?.some(isOver) === false ? [] : [ended])];
}

function conditionsOf({ name, statuses }: TimerQuery): SqlConditions {
  const conditions = new SqlConditions();
  if (name !== undefined) conditions.and("name = ?", name);
  if (statuses !== undefined) conditions.and("status = ANY(?)", statuses);
  return conditions;
}
