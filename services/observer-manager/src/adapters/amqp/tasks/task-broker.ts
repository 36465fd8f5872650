import { type Outgoing, PublishError, Publisher, type Session, SupervisedConnection } from "@unacked/broker";
import {
  type CancelTasks,
  EXCHANGES,
  generationKey,
  isOwnExchange,
  newMessageId,
  type Probe,
  type QueueDepth,
  type ReportTasks,
  TASK_STATE_QUEUE,
  type TaskBundle,
  type TaskMarker,
  taskStateQueue,
} from "@unacked/contracts";
import type { Source } from "../../../domain/observers/current-run.ts";
import type { Bundle } from "../../../domain/tasks/bundles.ts";
import { CONFIRM_TIMEOUT_MS } from "../../../domain/tasks/proof-times.ts";
import type { Log } from "../../../operations/log.ts";
import type { TaskSender } from "../../../operations/tasks/dispatch/task-sender.ts";
import type { UnwantedSend } from "../../../operations/tasks/unwanted-send.ts";
import { MARKER_LIVES_MS, type TaskMarkers } from "../../../operations/tasks/upkeep/task-markers.ts";
import type { AmqpSettings } from "../amqp-settings.ts";
import { NotTried } from "../pools/pool-window.ts";
import { lookAt } from "../pools/queue-look.ts";
import { Upkeep } from "../topology.ts";
import { PoolPublisher } from "./pool-publisher.ts";
import { TaskQueues } from "./task-queues.ts";
import { TaskStateConsumer, type TaskStateConsumerParts } from "./task-state-consumer.ts";

const MAX_WAITING = 100_000;

/**
 * The manager's part on the broker for tasks, on connections of its own, so that a refusal or a flood here harms no
 * observer.
 */
export class TaskBroker implements TaskSender, TaskMarkers {
  readonly #publisher: Publisher;
  /** A connection for pools whose queue confirms nothing. It connects when it is first needed. */
  readonly #aside: Publisher;
  readonly #pools: PoolPublisher;
  readonly #consumption: SupervisedConnection;
  readonly #queues: TaskQueues;
  readonly #managerId: string;
  readonly #log: Log;
  #consumer: TaskStateConsumer | undefined;
  #writableSinceMs = Number.POSITIVE_INFINITY;
  #watch: NodeJS.Timeout | undefined;

  constructor({ broker, queueType, managerId }: AmqpSettings) {
    this.#managerId = managerId;
    this.#log = broker.log;
    this.#queues = new TaskQueues(queueType, broker.log);
    const declare = async (session: Session): Promise<void> => {
      await session.declareExchange(EXCHANGES.tasks);
      await session.declareExchange(EXCHANGES.events);
      await session.declareExchange(EXCHANGES.service);
      await session.declare(taskStateQueue(queueType));
    };
    const publishing = { confirmTimeoutMs: CONFIRM_TIMEOUT_MS, maxWaiting: MAX_WAITING, mustBeTaken: isOwnExchange };
    this.#publisher = new Publisher(
      { ...broker, connectionName: "unacked-manager-tasks-publish" },
      {
        ...publishing,
        declare: async (session) => {
          await declare(session);
          this.#queues.begin(session);
        },
      },
    );
    this.#aside = new Publisher({ ...broker, connectionName: "unacked-manager-tasks-aside" }, publishing);
    this.#pools = new PoolPublisher(this.#publisher, this.#aside, broker.log);
    const upkeep = new Upkeep(declare);
    this.#consumption = new SupervisedConnection(
      { ...broker, connectionName: "unacked-manager-tasks-consume" },
      {
        build: async (session) => {
          await declare(session);
          await this.#consumer?.begin(session);
          upkeep.begin(session);
        },
        onLost: () => upkeep.end(),
      },
    );
  }

  start(parts: TaskStateConsumerParts): void {
    this.#consumer = new TaskStateConsumer(parts);
    this.#publisher.start();
    this.#consumption.start();
    this.#watch = setInterval(() => this.#lookWhetherWritable(), 500);
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    await Promise.all([this.#consumption.close(), this.#publisher.close(), this.#aside.close()]);
  }

  ready(signal: AbortSignal): Promise<void> {
    return this.#publisher.writable(signal);
  }

  get isReady(): boolean {
    return this.#publisher.isWritable;
  }

  get writableForMs(): number {
    return Math.max(0, performance.now() - this.#writableSinceMs);
  }

  async send({ tasks, inTurn }: Bundle): Promise<"sent" | "not-taken" | "unknown"> {
    const [task] = tasks;
    const { pool } = task;
    const declared = this.#queues.ensure(pool);
    try {
      await declared;
    } catch {
      return "not-taken"; // logged once, by what declares the queue
    }
    try {
      const bundle: TaskBundle = { kind: "TaskBundle", pool, tasks: [...tasks], ...(inTurn && { inTurn }) };
      const [type, body] = tasks.length === 1 ? (["StartTask", task] as const) : (["TaskBundle", bundle] as const);
      await this.#publish(pool, this.#message(EXCHANGES.tasks.name, pool, type, body, task.sendId));
      return "sent";
    } catch (error) {
      if (error instanceof NotTried) return "not-taken";
      const code = error instanceof PublishError ? error.code : "lost";
      if (code === "returned") this.#queues.returned(pool, declared);
      if (code === "returned" || code === "nacked") this.#queues.tellRefused(pool, error);
      return code === "lost" || code === "too-late" ? "unknown" : "not-taken";
    }
  }

  async cancel(sends: UnwantedSend[]): Promise<void> {
    const byService = new Map<string, UnwantedSend[]>();
    for (const send of sends) {
      const key = keyOf(send);
      const some = byService.get(key);
      if (some === undefined) byService.set(key, [send]);
      else some.push(send);
    }
    const sending = [...byService].map(([key, some]) => {
      const targets = some.map(({ taskId, sendId }) => ({ taskId, sendId }));
      return this.#order(key, { kind: "CancelTasks", targets });
    });
    await Promise.all(sending);
  }

  async sendMarker(pool: string, markerId: string): Promise<void> {
    const marker: TaskMarker = { kind: "TaskMarker", markerId, pool };
    await this.#queues.ensure(pool);
    const message = this.#message(EXCHANGES.tasks.name, pool, "TaskMarker", marker, newMessageId());
    await this.#publish(pool, { ...message, persistent: false, expirationMs: MARKER_LIVES_MS });
  }

  #publish(pool: string, message: Outgoing): Promise<void> {
    return this.#pools.publish(pool, this.#queues.typeOf(pool), message);
  }

  ask(service: Source, markerId: string): Promise<boolean> {
    return this.#order(keyOf(service), { kind: "ReportTasks", markerId });
  }

  lives(service: Source): Promise<boolean> {
    return this.#order(keyOf(service), { kind: "Probe" });
  }

  queue(pool: string): ReturnType<TaskMarkers["queue"]> {
    return this.#queues.look(pool);
  }

  /**
   * How many messages of services about tasks nobody has read yet; null while the broker cannot be asked. It is asked by the consuming
   * connection: under an alarm the broker does not read from the publishing one.
   */
  async stateQueue(): Promise<QueueDepth | null> {
    const counts = await lookAt(this.#consumption.session, TASK_STATE_QUEUE).catch(() => null);
    return counts && { queue: TASK_STATE_QUEUE, ...counts };
  }

  /** For how long storing these has failed, in ms; 0 while all goes well. */
  get failingForMs(): number {
    return this.#consumer?.retries.failingForMs ?? 0;
  }

  /**
   * Sends an order to one generation of one service. Never rejects. @returns false if it came back: that generation is gone
   */
  async #order(key: string, order: CancelTasks | ReportTasks | Probe): Promise<boolean> {
    const type = order.kind;
    try {
      await this.#publisher.publish(this.#message(EXCHANGES.service.name, key, type, order, newMessageId()));
      return true;
    } catch (error) {
      this.#log.debug({ type, err: error }, "an order about tasks did not arrive; it is given again if it is still due");
      return !(error instanceof PublishError && error.code === "returned");
    }
  }

  #message(exchange: string, routingKey: string, type: string, body: object, messageId: string) {
    return { exchange, routingKey, type, body, messageId, appId: this.#managerId, mandatory: true };
  }

  #lookWhetherWritable(): void {
    const { up, blocked } = this.#publisher.status;
    if (!up || blocked) this.#writableSinceMs = Number.POSITIVE_INFINITY;
    else if (this.#writableSinceMs === Number.POSITIVE_INFINITY) this.#writableSinceMs = performance.now();
  }
}

const keyOf = ({ serviceId, generation }: Source): string => generationKey(serviceId, generation);
