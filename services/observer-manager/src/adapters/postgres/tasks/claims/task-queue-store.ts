import type { StartTask, TaskId, TaskInput } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { Claimed } from "../../../../domain/tasks/bundles.ts";
import type { Floors } from "../../../../domain/tasks/claim-floors.ts";
import type { TaskQueueStore } from "../../../../operations/tasks/dispatch/task-queue-store.ts";
import type { UnwantedSend } from "../../../../operations/tasks/unwanted-send.ts";
import { readInputs } from "../../flows/flow-inputs.ts";
import { MAX_CLAIM_BYTES } from "../../statements/claim-bytes.ts";
import { intSum } from "../../statements/int-sum.ts";
import { Looks } from "../../statements/looks.ts";
import { prepared } from "../../statements/prepared.ts";
import { IN_THE_FUTURE } from "../../statements/time-ago.ts";
import { Vacuum } from "../../upkeep/vacuum.ts";
import { ANNOUNCED, TAKING } from "../task-services.ts";
import { IS_LIMITED, ORDER } from "./claim-terms.ts";
import { GIVEN_BACK, type GivenBack, uncount } from "./claims-given-back.ts";
import { PoolFloors } from "./pool-floors.ts";
import { CLAIM, CLAIM_CALLS, CLAIM_CALLS_FROM, CLAIM_FROM } from "./task-claim.ts";
import { CLAIM_PLAIN } from "./task-claim-plain.ts";
import { COMPANIONS, JOINERS } from "./task-joining.ts";

/** Index: tasks_scheduled. What is due and locked by somebody is left to him, or to the next time. */
const PROMOTE = prepared(`
  WITH due AS (
    UPDATE tasks SET status = 'Ready' WHERE id = ANY(ARRAY(
      SELECT id FROM tasks WHERE status = 'Scheduled' AND due_at <= unacked_now() ORDER BY due_at LIMIT $1
      FOR UPDATE SKIP LOCKED)) RETURNING id)
  SELECT (SELECT count(*)::int FROM due) AS promoted, (
    SELECT extract(epoch FROM min(due_at) - unacked_now())::float8 * 1000 FROM tasks
    WHERE status = 'Scheduled' AND due_at > unacked_now()) AS "nextDueInMs"`);

/** Index: tasks_scheduled. */
const NEXT_SCHEDULED =
  "SELECT extract(epoch FROM min(due_at) - unacked_now())::float8 * 1000 FROM tasks WHERE status = 'Scheduled'";

/** A handful of rows. */
const SERVED_POOLS = prepared(`
  SELECT k.pool, ${intSum("k.workers")} AS workers, jsonb_agg(jsonb_path_query_array(s.type_facts, '$[*].type')) AS types,
    bool_or(EXISTS (SELECT FROM task_types l WHERE ${IS_LIMITED} AND s.type_facts @> jsonb_build_array(jsonb_build_object('type', l.type)))) AS "isLimited"
  FROM ${TAKING} GROUP BY k.pool`);

/** Index: tasks_ready, once for each pool, from $2 on in the pools $1; without an order all rows might be read to find none. */
const WAITING_POOLS = prepared(`
  SELECT k.pool, ${intSum("k.workers")} AS workers, jsonb_agg(jsonb_path_query_array(s.type_facts, '$[*].type')) AS types
  FROM ${TAKING} LEFT JOIN unnest($1::text[], $2::timestamptz[]) AS f (pool, ready_from) ON f.pool = k.pool
  GROUP BY k.pool, ready_from HAVING (
    SELECT true FROM tasks t WHERE t.pool = k.pool AND t.status = 'Ready' AND t.due_at >= coalesce(ready_from, '-infinity') ORDER BY priority DESC, due_at, id LIMIT 1)`);

/** A handful of rows. */
const PACES = `${ANNOUNCED} HAVING bool_or(s.means ? (t->>'type') OR t ? 'batch')`;

/** Index: tasks_ready_of_type; it is read in its order, whatever statistics say. */
const COUNT_READY = prepared(`
  SELECT count(*)::int AS count FROM (
    SELECT FROM tasks WHERE pool = $1 AND type = $2 AND status = 'Ready' ORDER BY ${ORDER} LIMIT $3) ready`);

const ready = (set: string): string => `
  UPDATE tasks t SET status = 'Ready', send_id = NULL${set}
  FROM unnest($1::uuid[], $2::uuid[]) AS u (id, send_id)
  WHERE t.id = u.id AND t.send_id = u.send_id AND t.id = ANY($1) AND t.status = 'Sent'`;
const GIVE_BACK = ready("");
/** Takes back a claim of which nothing was published: it counts as no send, so that a task that was never sent may still go with others. */
const UNCLAIM = `
  WITH back AS (${ready(", sends = t.sends - 1")} RETURNING t.type, t.sent_at)
  ${GIVEN_BACK}`;

/** Index: tasks_cancelling. */
const TO_CANCEL = `
  FROM tasks WHERE cancel_requested_at IS NOT NULL AND status = 'Running' AND lease_until IS NULL
    AND (cancel_ordered_at IS NULL OR cancel_ordered_at < now() - interval '5 seconds' OR cancel_ordered_at ${IN_THE_FUTURE})
  ORDER BY cancel_ordered_at NULLS FIRST`;
const IS_CANCEL_DUE = `SELECT EXISTS (SELECT ${TO_CANCEL} LIMIT 1)`;
const CANCELS_DUE = `
  WITH due AS (
    UPDATE tasks SET cancel_ordered_at = now() WHERE id = ANY(ARRAY(
      SELECT id ${TO_CANCEL} LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING id, send_id, service_id, service_generation)
  SELECT id AS "taskId", send_id AS "sendId", service_id AS "serviceId", service_generation AS generation FROM due`;

/** There is always one row: without a task if none was claimed. */
interface ClaimRow extends Omit<Claimed["task"], "pool" | "maxAttempts" | "alone" | "taskId" | "inputs" | "sends"> {
  taskId: Claimed["task"]["taskId"] | null;
  maxAttempts: number | null;
  alone: boolean;
  unhurt: boolean;
  sends: number;
  lane: TaskId | null;
  maxRunning?: number | null;
  flowId: string | null;
  flowRef: string | null;
  /** The claim has no room for its params. */
  isBeyond: boolean | null;
  nextRoomInMs: number | null;
  keepsWorkers: boolean;
  roomAhead: number;
  /** Only the plain claim has these two. */
  isRefused?: boolean;
  isAll?: boolean;
}

/** Where the plain claim was refused, it is tried again after so long. */
const PLAIN_AGAIN_MS = 5_000;

export class PostgresTaskQueueStore implements TaskQueueStore {
  readonly #dataSource: DataSource;
  readonly #looks: Looks;
  readonly #floors: PoolFloors;
  readonly #vacuum: Vacuum;
  /** From when on the plain claim is tried again, by pool, in ms of `performance.now()`. */
  readonly #plainFromMs = new Map<string, number>();

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#looks = Looks.of(dataSource);
    this.#vacuum = new Vacuum(dataSource, "tasks");
    this.#floors = new PoolFloors(dataSource);
  }

  async outlook(): ReturnType<TaskQueueStore["outlook"]> {
    const [nextDueInMs, waiting, isCancelDue, paces, served] = await Promise.all([
      this.#looks.ask<number | null>(NEXT_SCHEDULED),
      this.#looks.askRows(WAITING_POOLS, this.#floors.readyFrom()),
      this.#looks.ask<boolean>(IS_CANCEL_DUE),
      this.#looks.askRows<PaceRow>(PACES),
      this.#looks.askRows<ServedRow>(SERVED_POOLS),
    ]);
    return { isAnyReady: waiting.length > 0, isCancelDue, nextDueInMs, paces, servedPools: poolsOf(served) };
  }

  async promoteDue(limit: number): ReturnType<TaskQueueStore["promoteDue"]> {
    const [row] = await this.#query<Awaited<ReturnType<TaskQueueStore["promoteDue"]>>>(PROMOTE, [limit]);
    return row ?? { promoted: 0, nextDueInMs: null };
  }

  async waitingPools(): ReturnType<TaskQueueStore["waitingPools"]> {
    return poolsOf(await this.#query<PoolRow>(WAITING_POOLS, this.#floors.readyFrom()));
  }

  async servedPools(): ReturnType<TaskQueueStore["servedPools"]> {
    return poolsOf(await this.#query<ServedRow>(SERVED_POOLS));
  }

  paces(): ReturnType<TaskQueueStore["paces"]> {
    return this.#dataSource.query(PACES);
  }

  async claim(pool: string, asked: Asked): ReturnType<TaskQueueStore["claim"]> {
    const floors = this.#floors.at(pool);
    const beganMs = performance.now();
    const plain = await this.#claimPlain(pool, asked, floors);
    const rows = plain ?? (await this.#claimAny(pool, asked, floors));
    const tasks = await this.#claimed(pool, rows);
    // Not awaited: what is claimed is to be sent.
    if (floors === undefined) void this.#floors.learn(pool, asked.types, performance.now() - beganMs, tasks.length);
    const { nextRoomInMs = null, keepsWorkers = false, roomAhead = 0, isAll: wasAll = false } = rows[0] ?? {};
    const isCut = tasks.length < rows.filter(({ taskId }) => taskId !== null).length;
    const [isAll, isPlain] = [wasAll && !isCut, plain !== undefined && !isCut];
    return { tasks, nextRoomInMs, keepsWorkers, roomAhead: roomAhead - tasks.length, isAll, isCut, isPlain };
  }

  /** Undefined: something here is more than plain. */
  async #claimPlain(
    pool: string,
    { window, types, batches }: Asked,
    floors: Floors | undefined,
  ): Promise<ClaimRow[] | undefined> {
    if (floors !== undefined || performance.now() < (this.#plainFromMs.get(pool) ?? 0)) return undefined;
    const single = types.filter((type) => !batches?.has(type));
    const rows = await this.#query<ClaimRow>(CLAIM_PLAIN, [pool, window, single, [...(batches?.keys() ?? [])]]);
    if (rows[0]?.isRefused !== true) return rows;
    this.#plainFromMs.set(pool, performance.now() + PLAIN_AGAIN_MS);
    return undefined;
  }

  #claimAny(pool: string, { window, workers, types, batches }: Asked, floors: Floors | undefined): Promise<ClaimRow[]> {
    const calls = batches === undefined || batches.size === 0 ? [] : [[...batches.keys()], [...batches.values()]];
    const hasCalls = calls.length > 0;
    const parameters = [pool, window, workers, types, ...calls];
    if (floors === undefined) return this.#query(hasCalls ? CLAIM_CALLS : CLAIM, parameters);
    return this.#query(hasCalls ? CLAIM_CALLS_FROM : CLAIM_FROM, [
      ...parameters,
      floors.readyFrom,
      floors.sentFrom,
      [...floors.readyFromByType.keys()],
      [...floors.readyFromByType.values()],
    ]);
  }

  async claimCompanions(pool: string, { type, taskId }: StartTask, count: number): Promise<Claimed[]> {
    return this.#claimed(pool, await this.#query<ClaimRow>(COMPANIONS, [pool, type, count, taskId]));
  }

  async claimJoiners(pool: string, type: string, lanes: TaskId[], turns: number[]): Promise<Claimed[]> {
    return this.#claimed(pool, await this.#query<ClaimRow>(JOINERS, [pool, type, turns.length, lanes, turns]));
  }

  async countReady(pool: string, type: string, atMost: number): Promise<number> {
    const [row] = await this.#query<{ count: number }>(COUNT_READY, [pool, type, atMost]);
    return row?.count ?? 0;
  }

  /**
   * Adds the inputs of those that belong to flows. If these cannot be had, nothing is claimed; if they are too many, or the params, not all
   * is.
   */
  async #claimed(pool: string, rows: ClaimRow[]): Promise<Claimed[]> {
    const claimed = rows.filter((row): row is ClaimedRow => row.taskId !== null);
    this.#vacuum.changed(claimed.length);
    try {
      const fitting = claimed.filter(({ isBeyond }) => isBeyond !== true);
      const { inputs, within, beyond } = await readInputs(this.#dataSource, fitting, MAX_CLAIM_BYTES);
      const left = [...beyond, ...claimed.filter(({ isBeyond }) => isBeyond === true)];
      if (left.length > 0) await this.unclaim(left);
      return claimedOf(pool, within, inputs);
    } catch (error) {
      await this.unclaim(claimed);
      throw error;
    }
  }

  async unclaim(claimed: Parameters<TaskQueueStore["unclaim"]>[0]): Promise<void> {
    const parameters = [claimed.map(({ taskId }) => taskId), claimed.map(({ sendId }) => sendId)];
    await uncount(this.#dataSource, await this.#query<GivenBack>(UNCLAIM, parameters));
  }

  async giveBack(sent: Parameters<TaskQueueStore["giveBack"]>[0]): Promise<void> {
    await this.#dataSource.query(GIVE_BACK, [sent.map(({ taskId }) => taskId), sent.map(({ sendId }) => sendId)]);
  }

  takeCancelsDue(limit: number): Promise<UnwantedSend[]> {
    return this.#dataSource.query(CANCELS_DUE, [limit]);
  }

  #query<Row>(text: string, parameters: unknown[] = []): Promise<Row[]> {
    return this.#dataSource.query(text, parameters);
  }
}

interface PoolRow {
  pool: string;
  workers: number;
  types: string[][];
}

type ServedRow = PoolRow & { isLimited: boolean };

type PaceRow = Awaited<ReturnType<TaskQueueStore["paces"]>>[number];

const poolsOf = <Row extends PoolRow>(rows: Row[]) => rows.map((row) => ({ ...row, types: [...new Set(row.types.flat())] }));

type Asked = Parameters<TaskQueueStore["claim"]>[1];

type ClaimedRow = ClaimRow & { taskId: TaskId };

function claimedOf(pool: string, rows: ClaimedRow[], inputs: ReadonlyMap<string, TaskInput[]>): Claimed[] {
  return rows.map(({ taskId, sendId, type, params, failures, maxAttempts, alone, sends, unhurt, lane, maxRunning }) => {
    const own = inputs.get(taskId);
    const task = { taskId, sendId, pool, type, params, sends, failures, ...(own !== undefined && { inputs: own }) };
    const wishes = { ...(maxAttempts !== null && { maxAttempts }), ...(alone && { alone }) };
    const inLane = lane !== null && { lane, ...(maxRunning != null && { maxRunning }) };
    return { task: { ...task, ...wishes }, isFirstSend: sends === 1, isUnhurt: unhurt, ...inLane };
  });
}
