import type { StartTask, TaskId } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { Claimed } from "../../../../domain/tasks/bundles.ts";
import type { Floors } from "../../../../domain/tasks/claim-floors.ts";
import type { TaskQueueStore } from "../../../../operations/tasks/dispatch/task-queue-store.ts";
import type { UnwantedSend } from "../../../../operations/tasks/unwanted-send.ts";
import { readInputs } from "../../flows/flow-inputs.ts";
import { MAX_CLAIM_BYTES } from "../../statements/claim-bytes.ts";
import { prepared } from "../../statements/prepared.ts";
import { Vacuum } from "../../upkeep/vacuum.ts";
import { takeCancelsDue } from "./cancels-due.ts";
import { ORDER } from "./claim-terms.ts";
import { type ClaimedRow, type ClaimRow, claimedOf } from "./claimed-rows.ts";
import { GIVEN_BACK, type GivenBack, uncount } from "./claims-given-back.ts";
import { PoolFloors } from "./pool-floors.ts";
import { CLAIM, CLAIM_CALLS, CLAIM_CALLS_FROM, CLAIM_FROM } from "./task-claim.ts";
import { CLAIM_PLAIN } from "./task-claim-plain.ts";
import { COMPANIONS, JOINERS } from "./task-joining.ts";
import { TaskOutlook } from "./task-outlook.ts";

/** Index: tasks_ready_of_type; it is read in its order, whatever statistics say. */
export const COUNT_READY = prepared(`
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

type Asked = Parameters<TaskQueueStore["claim"]>[1];

/** Where the plain claim was refused, it is tried again after so long. */
const PLAIN_AGAIN_MS = 5_000;

/** Claims tasks for services, and gives back what was not sent. What waits, and for whom: task-outlook.ts. */
export class PostgresTaskQueueStore implements TaskQueueStore {
  readonly #dataSource: DataSource;
  readonly #floors: PoolFloors;
  readonly #outlook: TaskOutlook;
  readonly #vacuum: Vacuum;
  /** From when on the plain claim is tried again, by pool, in ms of `performance.now()`. */
  readonly #plainFromMs = new Map<string, number>();

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#vacuum = new Vacuum(dataSource, "tasks");
    this.#floors = new PoolFloors(dataSource);
    this.#outlook = new TaskOutlook(dataSource, this.#floors);
  }

  outlook(): ReturnType<TaskQueueStore["outlook"]> {
    return this.#outlook.look();
  }

  promoteDue(limit: number): ReturnType<TaskQueueStore["promoteDue"]> {
    return this.#outlook.promoteDue(limit);
  }

  waitingPools(): ReturnType<TaskQueueStore["waitingPools"]> {
    return this.#outlook.waitingPools();
  }

  servedPools(): ReturnType<TaskQueueStore["servedPools"]> {
    return this.#outlook.servedPools();
  }

  paces(): ReturnType<TaskQueueStore["paces"]> {
    return this.#outlook.paces();
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
    return takeCancelsDue(this.#dataSource, limit);
  }

  #query<Row>(text: string, parameters: unknown[] = []): Promise<Row[]> {
    return this.#dataSource.query(text, parameters);
  }
}
