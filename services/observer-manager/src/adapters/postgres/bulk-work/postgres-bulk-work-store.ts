import { isDeepStrictEqual } from "node:util";
import {
  MAX_WORK_COUNT,
  MAX_WORK_NAMES,
  type ObserverId,
  WORK_STATUSES,
  type WorkId,
  type WorkView,
} from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { Actor } from "../../../domain/access/identity.ts";
import { newAction } from "../../../operations/access/audit.ts";
import {
  type BeginOutcome,
  type BulkWorkQuery,
  type BulkWorkStore,
  type CancelOutcome,
  matchOf,
  type NewBulkWork,
} from "../../../operations/bulk-work/bulk-work-store.ts";
import { recordActions } from "../access/audit-rows.ts";
import { PostgresBooksTransaction } from "../books/postgres-books-transaction.ts";
import { transact, type Unawaited } from "../connection/transaction.ts";
import { conditionsOf } from "../observers/observer-filter.ts";
import { type LiveAndEnded, listNewest } from "../statements/live-and-ended.ts";
import { Looks } from "../statements/looks.ts";
import { rethrowRefused } from "../statements/refused.ts";
import { SqlConditions } from "../statements/sql-conditions.ts";
import { type BulkWorkRow, COLUMNS, toWorkView, withStep } from "./bulk-work-view.ts";

/** Index: works_newest. */
const WORKS: LiveAndEnded = {
  live: { table: "works", columns: COLUMNS },
  ended: undefined,
  overStatuses: WORK_STATUSES.filter((status) => status !== "Running"),
  maxCount: MAX_WORK_COUNT,
};

/** Index: works_pkey. */
const FIND = `SELECT ${COLUMNS} FROM works WHERE id = $1`;
const LOCK = `${FIND} FOR UPDATE`;

const BEGIN = `
  INSERT INTO works (id, wish, actor, audit_id, total) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (id) DO NOTHING RETURNING id`;

/** Skips a row that somebody else is working on. Index: works_running. */
const NEXT = `
  SELECT ${COLUMNS} FROM works WHERE status = 'Running' AND wish->>'act' = ANY($1)
  ORDER BY turn_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** Index: works_running. */
const IS_ANY_RUNNING = "SELECT EXISTS (SELECT FROM works WHERE status = 'Running')";

/** Index: works_pkey; the row is locked. */
const MOVE = `
  UPDATE works SET place = $2, accepted = $3, refused = $4, turn_at = clock_timestamp(), problem = NULL,
    status = CASE WHEN $5 THEN 'Done' ELSE status END, ended_at = CASE WHEN $5 THEN clock_timestamp() END
  WHERE id = $1`;

/** Index: works_pkey. */
const LAST_IN_TURN =
  "UPDATE works SET turn_at = clock_timestamp(), problem = left($2, 300) WHERE id = $1 AND status = 'Running'";

const CANCEL = "UPDATE works SET status = 'Cancelled', ended_at = clock_timestamp(), cancelled_by = $2 WHERE id = $1";

/** Index: works_by_end. */
const FORGET = `
  DELETE FROM works WHERE id IN (
    SELECT id FROM works WHERE ended_at < unacked_now() - $1 * interval '1 millisecond' ORDER BY ended_at LIMIT $2)`;

export class PostgresBulkWorkStore implements BulkWorkStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  begin({ id, wish, by, auditId }: NewBulkWork): Promise<BeginOutcome> {
    const begin = async (tx: EntityManager): Promise<BeginOutcome> => {
      const total = await count(tx, { wish });
      const begun = await tx.query<object[]>(BEGIN, [id, wish, by, auditId, total]);
      const work = await find(tx, FIND, id);
      if (work === undefined) throw new Error("work is neither begun nor there");
      if (begun.length > 0) return { kind: "begun", work: toWorkView(work) };
      return isDeepStrictEqual(work.wish, JSON.parse(JSON.stringify(wish)))
        ? { kind: "exists", work: toWorkView(work) }
        : { kind: "taken" };
    };
    return this.#dataSource.transaction(begin).catch(rethrowRefused);
  }

  async find(id: WorkId): Promise<WorkView | undefined> {
    const row = await find(this.#dataSource, FIND, id);
    return row && toWorkView(row);
  }

  async list(query: BulkWorkQuery): ReturnType<BulkWorkStore["list"]> {
    const conditions = () =>
      query.statuses === undefined ? new SqlConditions() : new SqlConditions().and("status = ANY(?)", query.statuses);
    const { rows, ...page } = await listNewest<BulkWorkRow>(this.#dataSource, WORKS, query, conditions);
    return { ...page, items: rows.map(toWorkView) };
  }

  cancel(id: WorkId, by: Actor): Promise<CancelOutcome> {
    return this.#dataSource.transaction(async (tx): Promise<CancelOutcome> => {
      const before = await find(tx, LOCK, id);
      if (before === undefined) return { kind: "not-found" };
      if (before.status !== "Running") return { kind: "found", work: toWorkView(before) };
      await tx.query(CANCEL, [id, by.name]);
      const action = newAction("work.cancel", by);
      await recordActions(tx, [{ action, count: 1, targets: [{ kind: "work", id, name: null }] }]);
      const after = await find(tx, FIND, id);
      return { kind: "cancelled", work: toWorkView(after ?? before) };
    });
  }

  isAnyRunning(): Promise<boolean> {
    return Looks.of(this.#dataSource).ask(IS_ANY_RUNNING);
  }

  advance(...[{ acts, atOnce }, step]: Parameters<BulkWorkStore["advance"]>): Promise<boolean> {
    let taken: string | undefined;
    const move = async (tx: EntityManager, unawaited: Unawaited): Promise<boolean> => {
      const [row] = await tx.query<BulkWorkRow[]>(NEXT, [acts]);
      if (row === undefined) return false;
      taken = row.id;
      const { id, actor, audit_id, wish, place, refused, accepted } = row;
      const ids = await nextOf(tx, row, atOnce);
      const work: NewBulkWork = { id: id as WorkId, wish, by: actor, auditId: audit_id };
      const done =
        ids.length === 0 ? { accepted: 0, refused: [] } : await step(new PostgresBooksTransaction(tx, unawaited), work, ids);
      const after = withStep(refused, done, MAX_WORK_NAMES);
      await tx.query(MOVE, [id, ids.at(-1) ?? place, accepted + done.accepted, after, ids.length < atOnce]);
      return true;
    };
    return transact(this.#dataSource, move)
      .catch(async (error: unknown) => {
        // It is tried again after the others, so that those go on.
        const why = error instanceof Error ? error.message : String(error);
        if (taken !== undefined) await this.#dataSource.query(LAST_IN_TURN, [taken, why]).catch(() => undefined);
        throw error;
      })
      .catch(rethrowRefused);
  }

  async forget(olderThanMs: number, limit: number): Promise<number> {
    const [, forgotten] = await this.#dataSource.query<[unknown[], number]>(FORGET, [olderThanMs, limit]);
    return forgotten;
  }
}

async function find(db: DataSource | EntityManager, sql: string, id: WorkId): Promise<BulkWorkRow | undefined> {
  const [row] = await db.query<BulkWorkRow[]>(sql, [id]);
  return row;
}

async function count(tx: EntityManager, { wish }: Pick<NewBulkWork, "wish">): Promise<number> {
  const { where, parameters } = conditionsOf(matchOf(wish));
  const [row] = await tx.query<{ total: number }[]>(`SELECT count(*)::int AS total FROM observers o ${where}`, parameters);
  return row?.total ?? 0;
}

/** The next observers that match, behind its place, in the order of ids, in which rows are locked. Index: observers_pkey. */
async function nextOf(tx: EntityManager, { wish, place, created_at }: BulkWorkRow, atOnce: number): Promise<ObserverId[]> {
  const conditions = conditionsOf(matchOf(wish)).and("o.created_at <= ?", created_at);
  if (place !== null) conditions.and("o.id > ?", place);
  const rows = await tx.query<{ id: ObserverId }[]>(
    `SELECT o.id FROM observers o ${conditions.where} ORDER BY o.id LIMIT ${conditions.parameter(atOnce)}`,
    conditions.parameters,
  );
  return rows.map(({ id }) => id);
}
