import type { ObserverId, ScheduledObservers } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { LevelStore, LevelTransaction } from "../../../operations/schedules/level-store.ts";
import type { ScheduleState } from "../../../operations/schedules/schedule-store.ts";
import { PostgresBooksTransaction } from "../books/postgres-books-transaction.ts";
import { transact, type Unawaited } from "../connection/transaction.ts";
import { conditionsOf } from "../observers/observer-filter.ts";
import { Looks } from "../statements/looks.ts";
import { rethrowRefused } from "../statements/refused.ts";
import { SqlConditions } from "../statements/sql-conditions.ts";
import { writeDecisions } from "./decision-writes.ts";
import { LOOK_IS_DUE, putOff } from "./put-off.ts";
import { isoOf, STATE_COLUMNS, type StateRow, toState } from "./schedule-rows.ts";

/** Index: schedules_due. SKIP LOCKED: another manager may be at it. */
const DUE = `
  SELECT ${STATE_COLUMNS} FROM schedules s WHERE ${LOOK_IS_DUE}
  ORDER BY s.due_at LIMIT 1 FOR UPDATE SKIP LOCKED`;
/** Index: schedules_due. */
const NEXT_LOOK = `
  SELECT CASE WHEN bool_or(${LOOK_IS_DUE}) THEN 0 ELSE (extract(epoch FROM min(due_at) - unacked_now()) * 1000)::float8 END
  FROM schedules s WHERE kind = 'observers' AND due_at IS NOT NULL`;
const WANTS = "UPDATE schedules SET wanted = $2, change_at = $3 WHERE id = $1";
/** Index: schedule_observers_pkey. */
const BROUGHT = `
  INSERT INTO schedule_observers (schedule_id, observer_id, change_at) SELECT $1, id, $3 FROM unnest($2::uuid[]) AS u (id)
  ON CONFLICT (schedule_id, observer_id) DO UPDATE SET change_at = excluded.change_at`;
/** Deletes observers that the books have forgotten, once for each change. Indexes: schedule_observers_pkey, observers_pkey. */
const FORGET = `
  DELETE FROM schedule_observers b WHERE schedule_id = $1 AND NOT EXISTS (SELECT FROM observers o WHERE o.id = b.observer_id)`;
/** Index: occurrences_pkey. */
const COUNT = "UPDATE occurrences SET changed = changed + $3 WHERE schedule_id = $1 AND at = $2";

export class PostgresLevelStore implements LevelStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async look(work: (state: ScheduleState, nowMs: number, tx: LevelTransaction) => Promise<void>): Promise<boolean> {
    let locked: string | undefined;
    const look = transact(this.#dataSource, async (tx, unawaited) => {
      const [row] = await tx.query<StateRow[]>(DUE);
      if (row === undefined) return false;
      locked = row.id;
      await work(toState(row), row.nowMs, levelTransaction(tx, unawaited, row.id));
      return true;
    });
    return await look.catch(async (error: unknown) => {
      if (locked !== undefined) await putOff(this.#dataSource, locked, error);
      return rethrowRefused(error);
    });
  }

  nextLookInMs(): Promise<number | null> {
    return Looks.of(this.#dataSource).ask(NEXT_LOOK);
  }
}

const levelTransaction = (tx: EntityManager, unawaited: Unawaited, id: string): LevelTransaction => ({
  books: new PostgresBooksTransaction(tx, unawaited),
  async notBrought(observers, sinceMs, limit) {
    const conditions = conditionsOfObservers(observers);
    const [schedule, since] = [conditions.parameter(id), conditions.parameter(isoOf(sinceMs))];
    const most = conditions.parameter(limit);
    const rows = await tx.query<{ id: ObserverId }[]>(
      `SELECT o.id FROM observers o ${conditions.where} AND NOT EXISTS (SELECT FROM schedule_observers b
         WHERE b.schedule_id = ${schedule} AND b.observer_id = o.id AND b.change_at = ${since}::timestamptz)
       ORDER BY o.id LIMIT ${most}`,
      conditions.parameters,
    );
    return rows.map(({ id: observer }) => observer);
  },
  async brought(ids, sinceMs) {
    await tx.query(BROUGHT, [id, ids, isoOf(sinceMs)]);
  },
  async write({ wanted, sinceMs, isNew }, decision) {
    const decided = await writeDecisions(tx, [decision]);
    if (!isNew) return decided;
    await tx.query(WANTS, [id, wanted, isoOf(sinceMs)]);
    await tx.query(FORGET, [id]);
    return decided;
  },
  async count(sinceMs, changed) {
    await tx.query(COUNT, [id, isoOf(sinceMs), changed]);
  },
});

/** An observer that is deleted, or about to be, belongs to no schedule any more. */
function conditionsOfObservers({ ids, names, filter }: ScheduledObservers): SqlConditions {
  const conditions = filter === undefined ? new SqlConditions() : conditionsOf(filter);
  if (ids !== undefined) conditions.and("o.id = ANY(?)", ids);
  if (names !== undefined) conditions.and("o.name = ANY(?)", names);
  return conditions.and("o.status NOT IN ('Deleted', 'OnDeleting')");
}
