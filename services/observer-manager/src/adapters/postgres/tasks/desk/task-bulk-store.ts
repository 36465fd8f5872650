import type { SendId, TaskId, TaskStatus } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import { type Action, doneToTasks } from "../../../../operations/access/audit.ts";
import type { TaskBulkStore, TaskTarget } from "../../../../operations/tasks/desk/task-bulk-store.ts";
import type { UnwantedSend } from "../../../../operations/tasks/unwanted-send.ts";
import { recordActions } from "../../access/audit-rows.ts";
import { againAfterDeadlock } from "../../statements/deadlock.ts";
import { literals, SqlConditions } from "../../statements/sql-conditions.ts";
import { CANCELLED_BY } from "../ended-task-rows.ts";
import { refusalsOf } from "../task-refusals.ts";
import { WAITING } from "../views/task-view.ts";
import { cancelledBy, conditionsOf, MAKE_DUE, REQUEST_CANCEL, TO_CANCEL } from "./postgres-task-store.ts";
import { MAY_RUN_AGAIN, REVIVABLE, reviveMany } from "./task-revival.ts";

interface Locked {
  id: TaskId;
  status: string;
  pool: string;
  sendId: SendId;
  isToCancel: boolean;
}

/** Cancel and retry of many. Indexes: tasks_pkey, ended_tasks_by_id; tasks_of_type, tasks_in_flight and ended_tasks_of_type of a filter by type. */
export class PostgresTaskBulkStore implements TaskBulkStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async find(kind: "cancel" | "retry", target: TaskTarget, limit: number): Promise<TaskId[]> {
    const conditions = matching(target);
    if (kind === "cancel") conditions.and(TO_CANCEL);
    const mark = conditions.parameter(limit);
    const part = (table: string, which: string): string =>
      `(SELECT id FROM ${table} ${conditions.whereAlso(which)} LIMIT ${mark})`;
    // What would begin next is cancelled first, and what runs last: else a worker that becomes free would begin it.
    const ofCancel = [["Sent"], WAITING, ["Running"]].map((statuses) => part("tasks", `status IN (${literals(statuses)})`));
    const over = revivable(target);
    const ofRetry = [
      ...(over.length > 0 ? [part("ended_tasks", `status IN (${literals(over)}) AND ${mayRunAgain(target)}`)] : []),
      ...(wantsScheduled(target) ? [part("tasks", "status = 'Scheduled'")] : []),
    ];
    const parts = kind === "cancel" ? ofCancel : ofRetry;
    if (parts.length === 0) return [];
    const sql = `SELECT id FROM (${parts.join(" UNION ALL ")}) found LIMIT ${mark}`;
    const rows = await this.#dataSource.query<{ id: TaskId }[]>(sql, conditions.parameters);
    return rows.map(({ id }) => id);
  }

  cancelMany(ids: TaskId[], target: TaskTarget, action: Action): ReturnType<TaskBulkStore["cancelMany"]> {
    return this.#write((tx) => cancelTasks(tx, ids, target, action));
  }

  retryMany(ids: TaskId[], target: TaskTarget, action: Action): Promise<number> {
    return this.#write(async (tx) => {
      const revived = await reviveMany(tx, ids, revivable(target));
      const was = new Set(revived);
      const locked = wantsScheduled(target) ? await lock(tx, ids, target) : [];
      const due = locked.filter(({ id, status }) => status === "Scheduled" && !was.has(id)).map(({ id }) => id);
      if (due.length > 0) await tx.query(MAKE_DUE, [due]);
      await record(tx, action, [...revived, ...due]);
      return revived.length + due.length;
    });
  }

  /** The ledger may lock two of them the other way round. */
  async #write<Result>(work: (tx: EntityManager) => Promise<Result>): Promise<Result> {
    return await againAfterDeadlock(() => this.#dataSource.transaction(work));
  }
}

/** Cancels those of these that still match and are not over. */
export async function cancelTasks(
  tx: EntityManager,
  ids: TaskId[],
  target: TaskTarget,
  action: Action,
): Promise<{ accepted: number; over: TaskId[]; refuse: UnwantedSend[] }> {
  const locked = await lock(tx, ids, target);
  const running = locked.filter(({ status }) => status === "Running");
  const over = locked.filter(({ status }) => status !== "Running").map(({ id }) => id);
  const said = cancelledBy(action);
  if (running.length > 0) await tx.query(REQUEST_CANCEL, [running.map(({ id }) => id), said]);
  if (over.length > 0) await tx.query(CANCELLED_BY, [over, said]);
  // Somebody else may have cancelled some of them since they were found.
  await record(tx, action, [...over, ...running.filter(({ isToCancel }) => isToCancel).map(({ id }) => id)]);
  const refuse = await refusalsOf(
    tx,
    locked.filter(({ status }) => status === "Sent"),
  );
  return { accepted: locked.length, over, refuse };
}

/** Locks those that still match, in one order. */
function lock(tx: EntityManager, ids: TaskId[], target: TaskTarget): Promise<Locked[]> {
  const conditions = matching(target);
  conditions.and("id = ANY(?)", ids);
  return tx.query<Locked[]>(
    `SELECT id, status, pool, send_id AS "sendId", ${TO_CANCEL} AS "isToCancel" FROM tasks ${conditions.where} ORDER BY id FOR UPDATE`,
    conditions.parameters,
  );
}

async function record(tx: EntityManager, action: Action, ids: TaskId[]): Promise<void> {
  if (ids.length > 0) await recordActions(tx, [doneToTasks(action, ids)]);
}

function matching(target: TaskTarget): SqlConditions {
  if (!("ids" in target)) return conditionsOf(target);
  const conditions = new SqlConditions();
  conditions.and("id = ANY(?)", target.ids);
  return conditions;
}

const wantsScheduled = (target: TaskTarget): boolean => "ids" in target || target.statuses?.includes("Scheduled") === true;

/** Tasks that are named are found although another has their key: the caller is told that they stay as they are. */
const mayRunAgain = (target: TaskTarget): string => ("ids" in target ? "flow_id IS NULL" : MAY_RUN_AGAIN);

/** Statuses of ended tasks that may run again; if the target names no statuses, it is Failed. */
const revivable = (target: TaskTarget): readonly TaskStatus[] =>
  "ids" in target ? REVIVABLE : REVIVABLE.filter((status) => (target.statuses ?? ["Failed"]).includes(status));
