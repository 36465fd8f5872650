import { setTimeout as delay } from "node:timers/promises";
import {
  type CompleteTask,
  type ExtendTask,
  type FailTask,
  isTaskOver,
  MAX_TASK_OUTPUT_BYTES,
  type ReleaseTask,
  TASK_OVER_STATUSES,
  type TakenTask,
  type TakenTasks,
  type TakeTasks,
  type TaskId,
  type TaskInput,
  type TaskView,
} from "@unacked/contracts";
import type { Actor } from "../../../domain/access/identity.ts";
import { whyNotShared } from "../../../domain/access/task-share.ts";
import { fromJsonText } from "../../../domain/json-text.ts";
import { failedAttempt } from "../../../domain/tasks/taken-attempt.ts";
import { type Action, newAction } from "../../access/audit.ts";
import type { Log } from "../../log.ts";
import type { Refusal } from "../../refusal.ts";
import type { TaskTally } from "../../tally.ts";
import type { TaskQueueStore } from "../dispatch/task-queue-store.ts";
import type { Taker, TaskTakeTools } from "../task-tools.ts";
import type { HeldTask, NotHeld, TakenEnd, TaskTakeStore } from "./task-take-store.ts";
import type { WaitingTakers } from "./waiting-takers.ts";

/** For one who does not wait it looks so often, where others who claim just then are in his way. */
const MAX_LOOKS = 10;
const MAX_PAUSE_MS = 16;
/** Claims of a type with a rate are so far apart; where it has no room, the next comes later. */
const SOON_MS = 5;
/** So many of what is due are made Ready for one who does not wait; the rest when he asks again. */
const PROMOTE_LIMIT = 5_000;

export interface TaskTakeDeskParts {
  store: TaskTakeStore;
  takers: WaitingTakers;
  queue: Pick<TaskQueueStore, "promoteDue">;
  tally: TaskTally;
  /** Something may be due. */
  wake(): void;
  /** There may be room under a limit, and no more than that: what was taken was in no window. */
  madeRoom(): void;
  /** These are over. */
  over(tasks: TaskId[]): void;
  log: Log;
}

/**
 * Comes in: what workers outside ask and say of tasks. Guarantees: a task is one taker's until its lease is over or its end is told, and
 * what is said by an older taking changes nothing. What a crash leaves after each step: docs/decisions/0041-workers-outside.md.
 */
export class TaskTakeDesk implements TaskTakeTools {
  readonly #parts: TaskTakeDeskParts;
  /** One look under way: a thousand who ask in one moment all go by what it finds. */
  #promoting: Promise<boolean> | undefined;

  constructor(parts: TaskTakeDeskParts) {
    this.#parts = parts;
  }

  async takeTasks(asked: TakeTasks, by: Actor, { signal, isStillWelcome }: Taker): Promise<TakenTasks | Refusal> {
    const { takers } = this.#parts;
    const why = whyNotShared(by.name, by.share, asked);
    if (why !== undefined) return this.#refuse(why, by);
    const action = newAction("task.take", by);
    const tasks = await this.#take(asked, action, signal);
    const hasWaited = tasks.length === 0 && asked.wait > 0;
    const taken = hasWaited ? await takers.wait(asked, action, signal) : tasks;
    if (taken.length === 0) return signal.aborted ? { tasks: [] } : this.#none(asked);
    const isUnwelcome = hasWaited && !(await isStillWelcome());
    if (signal.aborted || isUnwelcome) takers.giveBack(taken, action);
    return isUnwelcome ? UNWELCOME : { tasks: taken.map(toTaken) };
  }

  #refuse(why: string, { name, address }: Actor): Refusal {
    this.#parts.log.warn({ event: "caller-refused", address, name, why }, "a caller was refused");
    return { kind: "problem", code: "forbidden", detail: why, remedy: ASK_FOR_MORE };
  }

  /**
   * For one who waits it is looked again in any case, and what is due is made Ready. For one who does not it is done here: the dispatcher,
   * which does it else, stands still while the broker is away.
   */
  async #take(asked: TakeTasks, action: Action, signal: AbortSignal): Promise<HeldTask[]> {
    for (let look = 1; ; look += 1) {
      const { tasks, nextRoomInMs, hasPassed, over } = await this.#parts.store.take(asked, action);
      if (over.length > 0) this.#parts.over(over);
      if (tasks.length > 0 || asked.wait > 0 || signal.aborted) return tasks;
      if (look === 1 && (await this.#promoteTogether())) continue;
      const isSoon = nextRoomInMs !== null && nextRoomInMs <= SOON_MS;
      if (!(hasPassed || isSoon) || look === MAX_LOOKS) return tasks;
      await delay(isSoon ? Math.max(1, nextRoomInMs) : Math.min(MAX_PAUSE_MS, 2 ** (look - 1)));
    }
  }

  /** What may be wrong with what was asked for. A type is known to nobody before its first task: this is said, and not refused. */
  async #none(asked: TakeTasks): Promise<TakenTasks> {
    const { store } = this.#parts;
    const [unknownTypes, otherPools] = await Promise.all([store.unknown(asked.types), store.inOtherPools(asked)]);
    return { tasks: [], ...(unknownTypes.length > 0 && { unknownTypes }), ...(otherPools.length > 0 && { otherPools }) };
  }

  #promoteTogether(): Promise<boolean> {
    this.#promoting ??= this.#promoteDue().finally(() => (this.#promoting = undefined));
    return this.#promoting;
  }

  /** @returns whether anything was due: for services, too, and for those who wait */
  async #promoteDue(): Promise<boolean> {
    const { promoted } = await this.#parts.queue.promoteDue(PROMOTE_LIMIT);
    if (promoted > 0) this.#parts.wake();
    return promoted > 0;
  }

  async completeTask(id: TaskId, { sendId, output }: CompleteTask, by: Actor): Promise<TaskView | Refusal> {
    const text = JSON.stringify(output);
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_TASK_OUTPUT_BYTES) {
      const detail = `The output has ${bytes} bytes as JSON; ${MAX_TASK_OUTPUT_BYTES} may be kept`;
      return { kind: "problem", code: "body-too-large", detail };
    }
    return this.#end({ id, sendId }, () => ({ outcome: "completed", output: text }), newAction("task.complete", by));
  }

  async failTask(id: TaskId, { sendId, ...failure }: FailTask, by: Actor): Promise<TaskView | Refusal> {
    const end = (attempts: Parameters<typeof failedAttempt>[1]): TakenEnd => ({
      outcome: "failed",
      ...failedAttempt(failure, attempts, Math.random()),
    });
    return this.#end({ id, sendId }, end, newAction("task.fail", by));
  }

  async releaseTask(id: TaskId, { sendId, inMs, reason }: ReleaseTask, by: Actor): Promise<TaskView | Refusal> {
    const end: TakenEnd =
      inMs === undefined ? { outcome: "given-back" } : { outcome: "postponed", inMs, reason: reason ?? "" };
    return this.#end({ id, sendId }, () => end, newAction("task.release", by, { inMs, reason }));
  }

  async takeBackTask(id: TaskId, by: Actor): Promise<TaskView | Refusal> {
    const { store, tally, wake, over } = this.#parts;
    const outcome = await store.takeBack(id, newAction("task.take-back", by));
    if (outcome.kind === "not-found") return { kind: "problem", code: "task-not-found" };
    if (outcome.kind === "not-taken")
      return {
        kind: "problem",
        code: "task-not-taken",
        detail: `The task is ${outcome.status}, and no worker outside has it`,
      };
    for (const { status } of outcome.over) tally.ended(status, 1);
    over(outcome.over.map((one) => one.id));
    wake();
    return outcome.task;
  }

  async extendTask(id: TaskId, { sendId, leaseMs }: ExtendTask): Promise<{ kind: "extended"; until: Date } | Refusal> {
    const outcome = await this.#parts.store.extend({ id, sendId }, leaseMs);
    if (outcome.kind === "cancelling") return { kind: "problem", code: "task-cancelling" };
    return outcome.kind === "extended" ? outcome : refusalOf(outcome);
  }

  async #end(...[held, end, action]: Parameters<TaskTakeStore["end"]>): Promise<TaskView | Refusal> {
    const { store, tally, wake, madeRoom, over } = this.#parts;
    const outcome = await store.end(held, end, action);
    if (!("task" in outcome)) return refusalOf(outcome);
    const { kind, task } = outcome;
    if (kind === "repeated") return task;
    const status = TASK_OVER_STATUSES.find((one) => one === task.status);
    if (status === undefined) {
      wake();
      return task;
    }
    tally.ended(status, 1);
    over([task.id as TaskId]);
    madeRoom();
    return task;
  }
}

const ASK_FOR_MORE =
  "Ask for what your token gives (type: and pool: in its line of the manager's list), or ask the operator of the manager for more.";

const UNWELCOME: Refusal = {
  kind: "problem",
  code: "unauthorized",
  detail: "While it waited the token was taken back, has expired, or has lost its role",
};

const toTaken = ({ id, sendId, type, params, failures, leaseUntil, inputs }: HeldTask): TakenTask => ({
  id,
  sendId,
  type,
  params,
  ...(inputs !== undefined && { inputs: inputs.map(toTakenInput) }),
  attempt: failures + 1,
  leaseUntil: leaseUntil.toISOString(),
});

const toTakenInput = ({ output, ...rest }: TaskInput): NonNullable<TakenTask["inputs"]>[number] => ({
  ...rest,
  ...(output !== undefined && { output: fromJsonText(output) }),
});

function refusalOf(outcome: NotHeld): Refusal {
  if (outcome.kind === "not-found") return { kind: "problem", code: "task-not-found" };
  const { status } = outcome;
  const now = isTaskOver(status) ? `it is over (${status})` : `it goes on without this one (${status})`;
  const detail = `The lease of this sendId ran out, or its end was told otherwise: ${now}`;
  return { kind: "problem", code: "task-not-held", detail };
}
