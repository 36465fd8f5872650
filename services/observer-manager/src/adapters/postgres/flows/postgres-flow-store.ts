import { FLOW_STATUSES, type FlowId, type FlowView, MAX_FLOW_COUNT } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { type Action, doneToFlow } from "../../../operations/access/audit.ts";
import type { FlowInsertOutcome, FlowQuery, FlowStore, NewFlow } from "../../../operations/flows/flow-store.ts";
import { recordActions } from "../access/audit-rows.ts";
import { type LiveAndEnded, listNewest } from "../statements/live-and-ended.ts";
import { rethrowRefused } from "../statements/refused.ts";
import { SqlConditions } from "../statements/sql-conditions.ts";
import { TaskStandings } from "../tasks/views/task-standings.ts";
import { Statistics } from "../upkeep/statistics.ts";
import { digestOf, isDigestOf } from "./flow-digest.ts";
import { rerunFlow } from "./flow-rerun.ts";
import { insertFlow } from "./flow-rows.ts";
import {
  FLOW_COLUMNS,
  FLOW_TASKS,
  type FlowRow,
  type FlowTaskRow,
  findFlow,
  toFlowTaskView,
  toFlowView,
} from "./flow-view.ts";

const DIGEST = "SELECT digest FROM flows WHERE id = $1";
const OVER = "SELECT id FROM flows WHERE id = ANY($1) AND status <> 'Running'";
const TOTAL = "SELECT total FROM flows WHERE id = $1";
const POOLS = "SELECT DISTINCT pool FROM flow_tasks WHERE flow_id = $1";

const LOCK = 'SELECT status, cancel_requested_at IS NOT NULL AS "isCancelling" FROM flows WHERE id = $1 FOR UPDATE';
const MARK = "UPDATE flows SET cancel_requested_at = now(), reason = 'cancelled by ' || $2 WHERE id = $1";

/** One table holds live and ended flows. Indexes: flows_newest, flows_of_name. */
const FLOWS: LiveAndEnded = {
  live: { table: "flows", columns: FLOW_COLUMNS },
  ended: undefined,
  overStatuses: [],
  maxCount: MAX_FLOW_COUNT,
};
/** Each status is read apart, the newest first. Index: flows_by_status. */
const OF_STATUSES: LiveAndEnded = { ...FLOWS, live: { ...FLOWS.live, parts: FLOW_STATUSES.map((status) => [status]) } };

export class PostgresFlowStore implements FlowStore {
  readonly #dataSource: DataSource;
  readonly #statistics: Statistics;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#statistics = new Statistics(dataSource, ["flows", "flow_tasks", "flow_edges"]);
  }

  async insert(flow: NewFlow, action: Action): Promise<FlowInsertOutcome> {
    const digest = await digestOf(flow);
    const write = this.#dataSource.transaction(async (tx): Promise<FlowView | undefined> => {
      if (!(await insertFlow(tx, flow, digest))) return undefined;
      const view = (await findFlow(tx, flow.id)) as FlowView;
      await recordActions(tx, [doneToFlow(action, view)]);
      return view;
    });
    const created = await write.catch(rethrowRefused);
    if (created === undefined) {
      const there = await this.findRepeated(flow);
      if (there === undefined) throw new Error(`the flow ${flow.id} was forgotten just then`);
      return there;
    }
    await this.#statistics.grown(flow.tasks.length);
    return { kind: "created", flow: created };
  }

  async findRepeated(flow: NewFlow): ReturnType<FlowStore["findRepeated"]> {
    const [there] = await this.#dataSource.query<{ digest: string }[]>(DIGEST, [flow.id]);
    if (there === undefined) return undefined;
    if (!(await isDigestOf(there.digest, flow))) return { kind: "taken" };
    const found = await findFlow(this.#dataSource, flow.id);
    return found && { kind: "exists", flow: found };
  }

  find(id: FlowId): Promise<FlowView | undefined> {
    return findFlow(this.#dataSource, id);
  }

  async findOver(ids: FlowId[]): Promise<FlowId[]> {
    const rows = await this.#dataSource.query<{ id: FlowId }[]>(OVER, [ids]);
    return rows.map(({ id }) => id);
  }

  async list(query: FlowQuery): ReturnType<FlowStore["list"]> {
    const from = query.statuses === undefined ? FLOWS : OF_STATUSES;
    const { rows, ...page } = await listNewest<FlowRow>(this.#dataSource, from, query, () => conditionsOf(query));
    return { ...page, items: rows.map(toFlowView) };
  }

  async listTasks(
    id: FlowId,
    { fromPlace, limit, withOutputs }: Parameters<FlowStore["listTasks"]>[1],
  ): ReturnType<FlowStore["listTasks"]> {
    const [flow] = await this.#dataSource.query<{ total: number }[]>(TOTAL, [id]);
    if (flow === undefined) return undefined;
    const rows = await this.#dataSource.query<FlowTaskRow[]>(FLOW_TASKS, [id, fromPlace, limit + 1, withOutputs]);
    const nextPlace = rows[limit]?.place;
    const shown = rows.slice(0, limit);
    const ready = shown.filter(({ status }) => status === "Ready");
    const standings = await TaskStandings.read(this.#dataSource, ready);
    return { items: shown.map((row) => toFlowTaskView(row, standings.of(row))), total: flow.total, nextPlace };
  }

  cancel(id: FlowId, action: Action): ReturnType<FlowStore["cancel"]> {
    return this.#dataSource.transaction(async (tx) => {
      const [flow] = await tx.query<{ status: string; isCancelling: boolean }[]>(LOCK, [id]);
      if (flow === undefined) return { kind: "not-found" } as const;
      if (flow.status !== "Running") return { kind: "was-over" } as const;
      if (!flow.isCancelling) await tx.query(MARK, [id, action.by.name]);
      const view = (await findFlow(tx, id)) as FlowView;
      if (!flow.isCancelling) await recordActions(tx, [doneToFlow(action, view)]);
      return { kind: "marked", flow: view } as const;
    });
  }

  rerun(id: FlowId, from: readonly string[] | undefined, action: Action): ReturnType<FlowStore["rerun"]> {
    return this.#dataSource.transaction(async (tx) => {
      const outcome = await rerunFlow(tx, id, from);
      if (outcome.kind !== "running") return outcome;
      const flow = (await findFlow(tx, id)) as FlowView;
      await recordActions(tx, [doneToFlow(action, flow)]);
      return { kind: "running", flow } as const;
    });
  }

  async poolsOf(id: FlowId): Promise<string[]> {
    const rows = await this.#dataSource.query<{ pool: string }[]>(POOLS, [id]);
    return rows.map(({ pool }) => pool);
  }
}

function conditionsOf({ name, statuses }: FlowQuery): SqlConditions {
  const conditions = new SqlConditions();
  if (name !== undefined) conditions.and("name = ?", name);
  if (statuses !== undefined) conditions.and("status = ANY(?)", statuses);
  return conditions;
}
