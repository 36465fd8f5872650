import { MAX_TIMER_COUNT, TIMER_OVER_STATUSES, type TimerId, type TimerView } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { type Action, doneToTimers } from "../../../operations/access/audit.ts";
import type { NewTimer, PutOutcome, TimerQuery, TimerStore } from "../../../operations/time/timer-store.ts";
import { recordActions } from "../access/audit-rows.ts";
import { rethrowRefused } from "../books/postgres-books-store.ts";
import { type LiveAndEnded, listNewest } from "../connection/live-and-ended.ts";
import { SqlConditions } from "../connection/sql-conditions.ts";
import { putTimers } from "./timer-put.ts";
import { ENDED_COLUMNS, keepEnded, LIVE_COLUMNS, type TimerRow, timersOf, toTimerView } from "./timer-view.ts";

/** Index: timers_pkey. A claim that comes first is waited for, and then it is Firing. */
const CANCEL = `
  WITH gone AS (DELETE FROM timers WHERE id = $1 AND status = 'Waiting' RETURNING *),
       kept AS (${keepEnded("gone", "Cancelled")} RETURNING id)
  SELECT id FROM kept`;

/** Indexes: timers_newest, timers_of_name, and the same of the ended. */
const TIMERS: LiveAndEnded = {
  live: { table: "timers", columns: LIVE_COLUMNS },
  ended: { table: "ended_timers", columns: ENDED_COLUMNS },
  overStatuses: TIMER_OVER_STATUSES,
  maxCount: MAX_TIMER_COUNT,
};

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
    const { rows, ...page } = await listNewest<TimerRow>(this.#dataSource, TIMERS, query, () => conditionsOf(query));
    return { ...page, items: rows.map(toTimerView) };
  }
}

function conditionsOf({ name, statuses }: TimerQuery): SqlConditions {
  const conditions = new SqlConditions();
  if (name !== undefined) conditions.and("name = ?", name);
  if (statuses !== undefined) conditions.and("status = ANY(?)", statuses);
  return conditions;
}
