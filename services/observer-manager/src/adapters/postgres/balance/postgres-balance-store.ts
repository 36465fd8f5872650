import { randomUUID } from "node:crypto";
import type { ObserverId, ObserverView } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { Action } from "../../../operations/access/audit.ts";
import type { BalanceStore, PoolStanding, RebalanceRow, Step } from "../../../operations/balance/balance-store.ts";
import type { ObserverRef } from "../../../operations/observers/observer-tools.ts";
import type { Refusal } from "../../../operations/refusal.ts";
import { recordActions } from "../access/audit-rows.ts";
import { findObserver } from "../observers/observer-reads.ts";
import { lockPool } from "../pools/pool-lock.ts";
import { Looks } from "../statements/looks.ts";
import { AGO_MS } from "../statements/time-ago.ts";
import { letStepAside, lockOne, moveOne, moveSome } from "./move-writes.ts";
import { readStandings } from "./pool-standings.ts";

/** What is shed needs a moment to arrive elsewhere; by then the next few may go. */
const STEP_EVERY_MS = 5_000;
const LOOK_AGAIN_MS = 1_000;
const KEPT = 20;

const COLUMNS = `
  id, pool, asked_by AS by, why, begun_at AS "begunAt", planned, moved, waits, ended_at AS "endedAt", outcome,
  coalesce(extract(epoch FROM now() - waits_since) * 1000, 0)::float8 AS "waitsForMs",
  coalesce(${AGO_MS("ended_at")}, 0) AS "endedAgoMs"`;

/** Index: rebalances_of_pool. */
const LAST = `SELECT ${COLUMNS} FROM rebalances WHERE pool = $1 ORDER BY ended_at IS NOT NULL, begun_at DESC LIMIT 1`;

/** It becomes the last of its pool even if the clock was set back since the one before. Index: rebalances_of_pool. */
const BEGIN = `
  INSERT INTO rebalances (id, pool, asked_by, why, planned, begun_at)
  VALUES ($1, $2, $3, $4, $5, greatest(now(), (SELECT max(begun_at) FROM rebalances WHERE pool = $2) + interval '1 millisecond'))
  ON CONFLICT (pool) WHERE ended_at IS NULL DO NOTHING RETURNING id`;

/** Index: rebalances_of_pool. */
const FORGET_OLD = `
  DELETE FROM rebalances WHERE id IN (SELECT id FROM rebalances WHERE pool = $1 ORDER BY begun_at DESC OFFSET ${KEPT})`;

/** Index: moves_by_time. */
const FORGET_MOVES = `
  DELETE FROM moves WHERE run_id IN (SELECT run_id FROM moves WHERE asked_at < now() - interval '30 days' ORDER BY asked_at LIMIT 1000)`;

/** Index: rebalances_one_under_way. */
const CANCEL =
  "UPDATE rebalances SET ended_at = now(), outcome = 'cancelled', waits = NULL WHERE pool = $1 AND ended_at IS NULL";

/** The next step is always due within seconds: one that is due later was planned by a clock that has been set back since. */
const IS_DUE = "ended_at IS NULL AND (step_at <= now() OR step_at > now() + interval '2 minutes')";

/** Index: rebalances_one_under_way. A handful of rows. */
const DUE = `
  SELECT ${COLUMNS} FROM rebalances WHERE ${IS_DUE} ORDER BY step_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** Index: rebalances_one_under_way. */
const IS_ANY_DUE = `SELECT EXISTS (SELECT FROM rebalances WHERE ${IS_DUE})`;

const MOVED = `
  UPDATE rebalances SET moved = moved + $2, planned = moved + $3, waits = NULL, waits_since = NULL,
    step_at = now() + $4 * interval '1 millisecond' WHERE id = $1`;

/** `waits_since` is never later than now: else it would wait for hours after the clock was set back. */
const WAIT = `
  UPDATE rebalances SET waits = $2, waits_since = least(waits_since, now()), step_at = now() + $3 * interval '1 millisecond'
  WHERE id = $1`;

const END = "UPDATE rebalances SET ended_at = now(), outcome = $2, waits = $3 WHERE id = $1";

type Row = Omit<RebalanceRow, "begunAt" | "endedAt"> & { begunAt: Date; endedAt: Date | null };

const toRow = (row: Row): RebalanceRow => ({
  ...row,
  begunAt: row.begunAt.toISOString(),
  endedAt: row.endedAt?.toISOString() ?? null,
});

export class PostgresBalanceStore implements BalanceStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  standings(): Promise<ReadonlyMap<string, PoolStanding>> {
    return readStandings(this.#dataSource);
  }

  async lastOf(pool: string): Promise<RebalanceRow | undefined> {
    const [row] = await this.#dataSource.query<Row[]>(LAST, [pool]);
    return row && toRow(row);
  }

  begin(
    { pool, by, why, planned }: { pool: string; by: string; why: string; planned: number },
    action?: Action,
  ): Promise<RebalanceRow> {
    return this.#dataSource.transaction(async (tx) => {
      const begun = await tx.query<unknown[]>(BEGIN, [randomUUID(), pool, by, why, planned]);
      if (begun.length > 0 && action) await recordActions(tx, [doneToPool(action, pool)]);
      await tx.query(FORGET_OLD, [pool]);
      const [row] = await tx.query<[Row]>(LAST, [pool]);
      return toRow(row);
    });
  }

  async cancel(pool: string, action: Action): Promise<void> {
    await this.#dataSource.transaction(async (tx) => {
      const [, ended] = await tx.query<[unknown[], number]>(CANCEL, [pool]);
      if (ended > 0) await recordActions(tx, [doneToPool(action, pool)]);
    });
  }

  isAnyDue(): Promise<boolean> {
    return Looks.of(this.#dataSource).ask(IS_ANY_DUE);
  }

  step(
    decide: (row: RebalanceRow, standing: PoolStanding | undefined) => Step,
  ): Promise<{ pool: string; moved: number } | undefined> {
    return this.#dataSource.transaction(async (tx) => {
      const [due] = await tx.query<Row[]>(DUE);
      if (due === undefined) return undefined;
      const row = toRow(due);
      const { pool } = row;
      const standings = await readStandings(tx, pool);
      const moved = await carryOut(tx, row, decide(row, standings.get(pool)));
      return { pool, moved };
    });
  }

  moveOne(
    ref: ObserverRef,
    action: Action,
    choose: (observer: ObserverView, standing: PoolStanding | undefined) => Refusal | undefined,
  ): Promise<{ kind: "accepted"; observer: ObserverView } | Refusal> {
    return this.#dataSource.transaction(async (tx) => {
      const found = await findObserver(tx, ref);
      if (found !== undefined) await lockOne(tx, found.id);
      const observer = found && (await findObserver(tx, { kind: "id", id: found.id as ObserverId }));
      if (observer === undefined) return { kind: "problem", code: "observer-not-found" };
      await lockPool(tx, observer.pool); // so that no two are given the last free worker
      const standings = await readStandings(tx, observer.pool, { but: observer.id });
      const refusal = choose(observer, standings.get(observer.pool));
      if (refusal !== undefined) return refusal;
      const asked = { by: action.by.name, why: "somebody asked for it" };
      if (!(await moveOne(tx, observer.id, asked, action.by.traceContext))) return { kind: "problem", code: "not-movable" };
      await tx.query(FORGET_MOVES);
      await tx.query("NOTIFY unacked_commands");
      const target = { kind: "observer", id: observer.id, name: observer.name } as const;
      await recordActions(tx, [{ action, count: 1, targets: [target] }]);
      return { kind: "accepted", observer };
    });
  }
}

async function carryOut(tx: EntityManager, row: RebalanceRow, step: Step): Promise<number> {
  if (step.kind === "wait") return tx.query(WAIT, [row.id, step.why, LOOK_AGAIN_MS]).then(() => 0);
  if (step.kind === "end") return tx.query(END, [row.id, step.outcome, step.why]).then(() => 0);
  const asked = { by: row.by, why: `rebalance of pool ${row.pool}: ${row.why}` };
  for (const { moves, aside } of step.choices) {
    let moved = 0;
    for (const some of moves) moved += await moveSome(tx, some, asked);
    if (moved === 0) continue;
    await letStepAside(tx, aside);
    await tx.query(MOVED, [row.id, moved, step.left, STEP_EVERY_MS]);
    await tx.query(FORGET_MOVES);
    await tx.query("NOTIFY unacked_commands");
    return moved;
  }
  const rest = "what could still move was moved less than ten minutes ago, or is being changed";
  return tx.query(END, [row.id, step.isNearlyEven ? "even" : "stalled", rest]).then(() => 0);
}

const doneToPool = (action: Action, pool: string) => ({
  action,
  count: 1,
  targets: [{ kind: "pool" as const, id: pool, name: pool }],
});
