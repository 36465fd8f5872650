import { type Consumer, isNoQueue, type LossReason, type Publisher, type Session } from "@unacked/broker";
import { type CancelTasks, type QueueType, type ReportTasks, taskQueue, taskStateQueue } from "@unacked/contracts";
import type { TaskTypeEntry } from "../../wire/messages.ts";
import { within } from "../../within.ts";
import { ConsumedQueue, type OnMissing } from "../consumed-queue.ts";
import type { ServiceIdentity } from "../identity.ts";
import { Paces } from "./paces.ts";
import { TaskCredit } from "./task-credit.ts";
import { TaskIntake, type TaskIntakeParts } from "./task-intake.ts";
import { TaskRunner, type TaskRunnerParts } from "./task-runner.ts";
import { TaskSender } from "./task-sender.ts";

export interface TaskSideParts
  extends Omit<TaskRunnerParts, "events" | "types" | "paces">,
    Omit<TaskIntakeParts, "runner" | "events"> {
  readonly identity: ServiceIdentity;
  readonly publisher: Publisher;
  readonly queueType: QueueType;
  readonly declaresTopology: boolean;
}

/** When a drain begins, tasks that are nearly over may end by themselves within this time. */
const LAST_WORK_MS = 2_000;

/**
 * Everything that a service does for tasks, beside its observers: with the same process, slots and lease, but everything else of its
 * own. Takes nothing if it has no task type, or no worker for one.
 */
export class TaskSide {
  readonly runner: TaskRunner;
  readonly sender: TaskSender;
  readonly #parts: TaskSideParts;
  readonly #types = new Map<string, TaskTypeEntry>();
  readonly #intake: TaskIntake;
  readonly #queue: ConsumedQueue;
  readonly #stateQueue: ConsumedQueue;
  /** The session by which the manager knows this service. What it takes comes by it, too. */
  #known: Session | undefined;
  #session: Session | undefined;
  #beganIn: Session | undefined;
  #consuming: Promise<Consumer> | undefined;
  readonly #credit: TaskCredit;
  /** How long tasks take decides how many travel together, so it is reported at once that a type is short. */
  readonly #paces = new Paces(() => this.tellAlive());
  #draining = false;
  #cordoned = false;
  /** Whether it has had a session. Before that nobody knows it, and there is no generation to name. */
  #hasBegun = false;

  constructor(parts: TaskSideParts) {
    this.#parts = parts;
    const { identity, queueType, declaresTopology } = parts;
    this.#queue = new ConsumedQueue(taskQueue(identity.pool, queueType), declaresTopology);
    this.#stateQueue = new ConsumedQueue(taskStateQueue(queueType), declaresTopology);
    this.#readTypes();
    this.sender = new TaskSender(parts.identity, parts, () => this.runner.isStocked);
    this.runner = new TaskRunner({ ...parts, types: this.#types, events: this.sender, paces: this.#paces });
    this.#intake = new TaskIntake({ ...parts, runner: this.runner, events: this.sender });
    this.#credit = new TaskCredit({ workers: () => this.workers, held: () => this.runner.messages });
  }

  /** How many tasks run at once. */
  get workers(): number {
    return this.#types.size === 0 ? 0 : this.#parts.workers;
  }

  /** The folder was loaded again. If it has its first task types, tasks are taken from now on; if none is left, nothing is. */
  learnTypes(): void {
    this.#readTypes();
    this.#credit.look(); // as there may be types again after there were none
    const onLost = (error: unknown) =>
      this.#parts.log.debug({ event: "no-tasks", error: String(error) }, "the session is lost, and says why");
    this.#restIfNone().catch(onLost);
    const session = this.#known;
    if (session === undefined || session === this.#beganIn) return this.tellAlive();
    this.begin(session).catch(onLost);
  }

  /** Each task that came would go back to the manager, to be sent here again. Credit comes with the next type. */
  async #restIfNone(): Promise<void> {
    const consuming = this.#consuming;
    const consumer = await consuming;
    if (consumer === undefined || this.#consuming !== consuming || this.workers > 0 || this.#isClosed) return;
    const paused = consumer.pause();
    this.#credit.begin(consumer);
    await paused;
  }

  #readTypes(): void {
    this.#types.clear();
    for (const entry of this.#parts.handlers.catalogue.tasks) this.#types.set(entry.type, entry);
  }

  /**
   * Consumes on this session, once the manager knows this service. The session's set-up does not await it, as the queue may
   * be the manager's to declare. Rejects when the session is lost.
   */
  async begin(session: Session): Promise<void> {
    this.#known = session;
    this.sender.enterGeneration(session.generation); // it may be asked what it has, though it takes nothing
    if (this.workers === 0) return;
    this.#beganIn = session;
    const { declaresTopology, publisher, log } = this.#parts;
    const tellMissing: OnMissing = (queue, why) => this.#tellMissing(queue, why);
    // If the folder had no task type before, nobody has declared the queue.
    if (declaresTopology) await this.#stateQueue.untilThere(session, tellMissing);
    this.#hasBegun = true;
    const told = new Promise<void>((resolve) => this.#tellWorkers(resolve));
    const known = new AbortController();
    await Promise.race([told, publisher.blocked(known.signal)]);
    known.abort();
    await this.#queue.untilThere(session, tellMissing);
    this.#session = session;
    if (this.#isClosed) return;
    await this.#consume();
    log.info({ event: "consuming-tasks", queue: this.#queue.name, workers: this.workers }, "taking tasks");
  }

  #tellMissing(queue: string, why: LossReason): void {
    const { detail, remedy } = why;
    // If the manager has to declare it, it does so with the pool's first task.
    const level = isNoQueue(why) ? "debug" : "warn";
    this.#parts.log[level](
      { event: "waiting-for-queue", queue, detail, remedy },
      "a queue of tasks cannot be had; it is waited for",
    );
  }

  get #isClosed(): boolean {
    return this.#draining || this.#cordoned;
  }

  async #consume(): Promise<void> {
    if (this.#session === undefined) return;
    this.#consuming = this.#session.consume(this.#queue.name, { prefetch: Math.max(1, this.workers) }, (delivery) =>
      this.#intake.take(delivery),
    );
    const consumer = await this.#consuming;
    if (this.#isClosed) await consumer.pause();
    await this.#restIfNone();
  }

  sessionLost(): void {
    this.#credit.end();
    this.#known = undefined;
    this.#session = undefined;
    this.#consuming = undefined;
  }

  /** Takes nothing more, but runs what it has to its end. */
  async cordon(): Promise<void> {
    this.#cordoned = true;
    this.#credit.end();
    this.tellAlive();
    await (await this.#consuming)?.pause();
  }

  /** Takes tasks again, also after a drain: as many as there are free workers, and more as what still runs ends. Safe to repeat. */
  async goOn(): Promise<void> {
    if (!this.#isClosed) return this.tellAlive();
    this.#draining = false;
    this.#cordoned = false;
    this.#intake.goOn();
    this.tellAlive();
    const consuming = this.#consuming;
    if (consuming === undefined) return this.#consume();
    const consumer = await consuming;
    if (!this.#isClosed && this.#consuming === consuming) this.#credit.begin(consumer);
  }

  /** Sent every few seconds: it tells the manager how many tasks to send. */
  tellAlive(): void {
    if (!this.#hasBegun) return;
    this.#tellWorkers();
    this.runner.tellRunning();
  }

  cancel({ targets }: CancelTasks): void {
    for (const { taskId, sendId } of targets) this.runner.cancel(taskId, sendId);
  }

  /** Answers behind what is on its way here, and only under a held lease: what a fenced service had is nobody's yet. */
  async report({ markerId }: ReportTasks, generation: number): Promise<void> {
    const { holds, log } = this.#parts;
    try {
      await (await this.#consuming)?.flushed();
      const isOfIt = this.sender.generation === generation; // otherwise events still go out for the last session
      if (isOfIt && holds(generation)) this.sender.tell({ kind: "TaskInventory", markerId, held: this.runner.held });
    } catch (error) {
      log.debug({ event: "inventory-abandoned", error: String(error) }, "it could not be proven whole; it is asked again");
    }
  }

  /**
   * Takes nothing more. Tasks that are nearly over end, the others are told to stop and given back. Resolves when that is done, or after
   * `limitMs`.
   */
  async drain(limitMs: number): Promise<void> {
    this.#draining = true;
    this.#credit.end();
    this.#intake.drain();
    this.tellAlive();
    const endMs = performance.now() + limitMs;
    const cancelled = this.#consuming?.then((consumer) => consumer.pause());
    await within(
      Math.min(LAST_WORK_MS, limitMs / 2),
      cancelled?.then(() => this.runner.idle()),
    );
    if (!this.#draining) return; // the drain was taken back
    this.runner.stopAll({ kind: "draining" });
    await within(Math.max(0, endMs - performance.now()), this.runner.idle());
  }

  #tellWorkers(onConfirmed?: () => void): void {
    const { tasks } = this.#parts.handlers.catalogue;
    const types = tasks.map(({ type, description, paramsSchema, batch }) => {
      const meanMs = this.#paces.tell(type);
      const known = { ...(meanMs !== undefined && { meanMs }), ...(batch !== undefined && { batch }) };
      return { type, description, paramsSchema, ...known };
    });
    this.sender.tell({ kind: "TaskWorkers", workers: this.workers, draining: this.#isClosed, types }, onConfirmed);
  }
}
