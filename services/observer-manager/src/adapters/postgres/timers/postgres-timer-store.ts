import { MAX_TIMER_COUNT, TIMER_OVER_STATUSES, type TimerId, type TimerView } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type {
  CancelOutcome,
  PutOutcome,
  TimerCancel,
  TimerPut,
  TimerQuery,
  TimerStore,
} from "../../../operations/timers/timer-store.ts";
import { againAfterDeadlock } from "../statements/deadlock.ts";
import { type LiveAndEnded, listNewest } from "../statements/live-and-ended.ts";
import { rethrowRefused } from "../statements/refused.ts";
import { escapeLike, SqlConditions } from "../statements/sql-conditions.ts";
import { cancelTimers } from "./timer-cancel.ts";
import { putTimers } from "./timer-put.ts";
import {
  ENDED_COLUMNS,
  LIVE_COLUMNS,
  LIVE_TIMERS,
  OVER_TIMERS,
  type TimerRow,
  timersOf,
  toTimerView,
} from "./timer-view.ts";

/** Indexes: timers_newest, timers_of_name, and the same of the ended. */
const TIMERS: LiveAndEnded = {
  live: { table: LIVE_TIMERS, columns: LIVE_COLUMNS },
  ended: { table: OVER_TIMERS, columns: ENDED_COLUMNS },
  overStatuses: TIMER_OVER_STATUSES,
  maxCount: MAX_TIMER_COUNT,
  large: ["payload"],
};
/** Each status of the ended is read apart, the newest first. Index: ended_timers_unfired. */
const OF_STATUSES: LiveAndEnded = {
  ...TIMERS,
  ended: { table: OVER_TIMERS, columns: ENDED_COLUMNS, parts: TIMER_OVER_STATUSES.map((status) => [status]) },
};

export class PostgresTimerStore implements TimerStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  put(puts: TimerPut[]): Promise<PutOutcome[]> {
    return this.#write((tx) => putTimers(tx, puts)).catch(rethrowRefused);
  }

  async find(id: TimerId): Promise<TimerView | undefined> {
    return (await timersOf(this.#dataSource, [id])).get(id);
  }

  cancel(cancels: TimerCancel[]): Promise<CancelOutcome[]> {
    return this.#write((tx) => cancelTimers(tx, cancels));
  }

  async list(query: TimerQuery): ReturnType<TimerStore["list"]> {
    const from = query.statuses === undefined ? TIMERS : OF_STATUSES;
    const { rows, ...page } = await listNewest<TimerRow>(this.#dataSource, from, query, () => conditionsOf(query));
    return { ...page, items: rows.map(toTimerView) };
  }

  /** A manager that takes over what another had claimed may lock two of them in the other order. */
  #write<Result>(work: (tx: EntityManager) => Promise<Result>): Promise<Result> {
    return againAfterDeadlock(() => this.#dataSource.transaction(work));
  }
}

function conditionsOf({ name, prefix, statuses }: TimerQuery): SqlConditions {
  const conditions = new SqlConditions();
  if (name !== undefined) conditions.and("name = ?", name);
  if (prefix !== undefined) conditions.and("name LIKE ?", `${escapeLike(prefix)}%`);
  if (statuses !== undefined) conditions.and("status = ANY(?)", statuses);
  return conditions;
}
