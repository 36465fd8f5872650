import { type ConnectionStatus, Publisher, type Session, SupervisedConnection } from "@unacked/broker";
import {
  ERROR_QUEUE,
  EXCHANGES,
  isOwnExchange,
  newMessageId,
  type QueueMarker,
  type QueueType,
  REQUEST_QUEUE,
  type ReadinessCheck,
  STATE_KEY,
  STATE_QUEUE,
  type StateMarker,
  workQueueName,
} from "@unacked/contracts";
import type { Tracing } from "@unacked/tracing";
import { FREE_THE_BROKER } from "../../domain/overview/warnings/broker.ts";
import type { ErrorBook } from "../../operations/books/books-store.ts";
import type { Ledger } from "../../operations/books/ledger.ts";
import type { CommandSender } from "../../operations/commands/command-store.ts";
import type { Log } from "../../operations/log.ts";
import type { MarkerSender } from "../../operations/observers/absence-prover.ts";
import type { QueueLook } from "../../operations/observers/reconciler.ts";
import type { QueuesNow } from "../../operations/pools/pool-queues.ts";
import type { AmqpSettings } from "./amqp-settings.ts";
import { AmqpCommandSender } from "./commands/command-sender.ts";
import { MessageTracing } from "./deliveries/message-tracing.ts";
import { ErrorConsumer } from "./errors/error-consumer.ts";
import { AmqpLogReader } from "./logs/log-reader.ts";
import { lookAt } from "./pools/queue-look.ts";
import { WorkQueues } from "./pools/work-queues.ts";
import { CatchUp } from "./state/catch-up.ts";
import { StateConsumer } from "./state/state-consumer.ts";
import { topology, Upkeep } from "./topology.ts";

export interface ObserverBrokerSettings extends AmqpSettings {
  /** Undefined means that nothing is traced. */
  tracing: Tracing | undefined;
}

export interface ObserverBrokerParts {
  ledger: Ledger;
  errors: ErrorBook;
  /** Notes that everything before these markers in the state queue has been stored. */
  markerRead(markerIds: string[]): Promise<void>;
  /** Called after each commit of the ledger: commands may have been written. */
  committed(): void;
}

type Marker = Parameters<MarkerSender["sendMarkers"]>[0];

/**
 * A publish without a confirm by then is sent again; until then its command stays claimed. Time under an alarm does not
 * count.
 */
const CONFIRM_TIMEOUT_MS = 10_000;

/** After this long it is no longer a deadlock, or a database that is away for a moment. */
const FAILING_MS = 3_000;

/**
 * The most open publishes: claimed starts (8,000, and 100 more of each pool beyond that, starts-under-way.ts), own ones (12,000,
 * own-start-sender.ts), and other messages. It suffices for 150 pools that confirm nothing.
 */
const MAX_OPEN = 40_000;

/** The most questions about logs that wait for their confirm. More are answered "the broker cannot be asked". */
const MAX_QUESTIONS = 1_000;

/**
 * The manager's part on the broker for observers, on three connections of its own: one to consume, one to publish, one to ask for logs.
 * Tasks, requests and timers have theirs (tasks/, requests/, timers/).
 */
export class ObserverBroker implements QueueLook, MarkerSender {
  readonly sender: CommandSender;
  readonly catchUp: CatchUp;
  readonly logs: AmqpLogReader;
  readonly workQueues: WorkQueues;
  readonly #queueType: QueueType;
  readonly #publisher: Publisher;
  readonly #states: StateConsumer;
  readonly #errors: ErrorConsumer;
  /** A connection of its own, so that a look at logs holds up no start and no stop. */
  readonly #questions: Publisher;
  readonly #managerId: string;
  readonly #consumption: SupervisedConnection;
  #requestsReady: number | undefined;

  constructor(settings: ObserverBrokerSettings, parts: ObserverBrokerParts) {
    const { broker, queueType, managerId } = settings;
    const tracing = settings.tracing && new MessageTracing(settings.tracing);
    this.#queueType = queueType;
    const { log } = broker;
    this.#managerId = managerId;
    const declare = topology(queueType);
    this.workQueues = new WorkQueues(() => this.#consumption.session, queueType, log);
    this.#states = new StateConsumer({ ...parts, log, tracing, born: (pool) => void this.#declareFor(pool, log) });
    const upkeep = new Upkeep(async (session) => {
      await declare(session);
      await this.logs.declare(session);
    });
    // Runs by itself, so that a look without an answer holds up neither the reading here nor the upkeep.
    const looks = new Upkeep((session) => this.#lookAtRequests(session));
    this.#errors = new ErrorConsumer(parts.errors, log);
    this.catchUp = new CatchUp(() => this.#states.isIdle);
    this.#publisher = new Publisher(
      { ...broker, connectionName: "unacked-manager-publish" },
      { declare, confirmTimeoutMs: CONFIRM_TIMEOUT_MS, maxWaiting: MAX_OPEN, mustBeTaken: isOwnExchange },
    );
    this.#questions = new Publisher(
      { ...broker, connectionName: "unacked-manager-logs" },
      { maxWaiting: MAX_QUESTIONS, confirmTimeoutMs: CONFIRM_TIMEOUT_MS },
    );
    this.logs = new AmqpLogReader({ publisher: this.#questions, managerId, log });
    this.#consumption = new SupervisedConnection(
      { ...broker, connectionName: "unacked-manager-consume" },
      {
        build: async (session) => {
          await declare(session);
          await this.#states.begin(session);
          await this.#errors.begin(session);
          await this.logs.begin(session);
          this.catchUp.begin(session);
          upkeep.begin(session);
          looks.begin(session);
        },
        onLost: () => {
          this.#requestsReady = undefined;
          this.catchUp.end();
          this.logs.end();
          upkeep.end();
          looks.end();
        },
      },
    );
    this.sender = new AmqpCommandSender({
      publisher: this.#publisher,
      workQueues: this.workQueues,
      managerId,
      log,
      tracing,
    });
  }

  start(): void {
    this.#publisher.start();
    this.#questions.start();
    this.#consumption.start();
  }

  async close(): Promise<void> {
    await Promise.all([this.#consumption.close(), this.#publisher.close(), this.#questions.close()]);
  }

  /** The state of both connections, for metrics. */
  get connections(): Record<"consume" | "publish", ConnectionStatus> {
    return { consume: this.#consumption.status, publish: this.#publisher.status };
  }

  /** The readiness of the broker, and whether the state queue has once been read empty. */
  checks(): Record<string, ReadinessCheck> {
    return {
      broker: brokerCheck(this.#publisher.status, this.#consumption.status),
      stateQueue: this.catchUp.hasOnceCaughtUp
        ? this.#stateQueueCheck()
        : {
            ok: false,
            detail: "the state queue has not been read empty yet",
            remedy: "Wait. If it goes on, see the manager's log.",
          },
    };
  }

  /** For how long events, and reports of errors, have failed, in ms; 0 while all goes well. */
  get failingForMs(): Record<"state" | "error", number> {
    return { state: this.#states.retries.failingForMs, error: this.#errors.retries.failingForMs };
  }

  #stateQueueCheck(): ReadinessCheck {
    const { held, retries } = this.#states;
    const waiting = `${this.catchUp.depth === null ? "unknown" : this.catchUp.depth + held} batches wait in ${STATE_QUEUE}`;
    // If nothing waits, here or in the queue, another manager has applied what failed here.
    if (retries.failingForMs < FAILING_MS || this.catchUp.isCaughtUp) return { ok: true, detail: waiting };
    const seconds = Math.round(retries.failingForMs / 1_000);
    return {
      ok: false,
      detail: `events could not be applied for ${seconds} s (${retries.why}); ${waiting}`,
      remedy: "The logs of the manager and of PostgreSQL say why. Nothing is lost meanwhile, and it is tried again.",
    };
  }

  /** The queues of the pools, unwanted ones, and our own; null while the broker cannot be asked. */
  async queues(pools: string[]): Promise<QueuesNow | null> {
    const session = this.#consumption.session;
    if (!session) return null;
    const { unwanted } = this.workQueues;
    const work = await this.workQueues.depths(pools);
    const depths = [...work, ...unwanted].map(({ pool, ...look }) => ({ queue: workQueueName(pool), ...look }));
    try {
      for (const queue of [STATE_QUEUE, ERROR_QUEUE]) {
        const { messageCount, consumerCount } = await session.inspect(queue);
        depths.push({ queue, ready: messageCount, consumers: consumerCount });
      }
    } catch {
      return null; // the session was lost while asking
    }
    const broker = { brokerVersion: session.brokerVersion, queueType: this.#queueType };
    const isBlocked = this.#publisher.status.blocked;
    return { depths, troubles: this.workQueues.troubles, unwanted, broker, isBlocked };
  }

  async #lookAtRequests(session: Session): Promise<void> {
    this.#requestsReady = (await lookAt(session, REQUEST_QUEUE))?.ready;
  }

  /**
   * How many requests over AMQP nobody had received some seconds ago. Undefined if it is not known. The look is taken from here, so that it
   * includes requests for which no manager listens.
   */
  get requestsReady(): number | undefined {
    return this.#requestsReady;
  }

  /** Declares a pool's queue for a service whose user may not, and which waits for it. */
  async #declareFor(pool: string, log: Log): Promise<void> {
    try {
      await this.workQueues.ensure(pool);
    } catch (error) {
      log.debug({ event: "not-declared", pool, error: String(error) }, "it is tried again");
    }
  }

  async ready(pool: string): Promise<number | null> {
    const [work] = await this.workQueues.depths([pool]);
    return work?.ready ?? null;
  }

  async sendMarkers(marker: Marker): Promise<void> {
    const { pool, markerId } = marker;
    const body: QueueMarker = { kind: "QueueMarker", markerId, pool };
    await Promise.all([this.#sendMarker(marker, EXCHANGES.start.name, pool, body), this.sendStateMarker(marker)]);
  }

  sendStateMarker(marker: Marker): Promise<void> {
    const { pool, markerId } = marker;
    const body: StateMarker = { kind: "StateMarker", markerId, pool };
    return this.#sendMarker(marker, EXCHANGES.events.name, STATE_KEY, body);
  }

  #sendMarker({ livesMs }: Marker, exchange: string, routingKey: string, body: QueueMarker | StateMarker): Promise<void> {
    const common = { appId: this.#managerId, persistent: false, expirationMs: livesMs };
    return this.#publisher.publish({ ...common, exchange, routingKey, body, type: body.kind, messageId: newMessageId() });
  }

  /** A look at a pool's queue, for the reconciler. */
  async look(pool: string): ReturnType<QueueLook["look"]> {
    const queues = await this.queues([pool]);
    const work = queues?.depths.find(({ queue }) => queue === workQueueName(pool));
    const state = queues?.depths.find(({ queue }) => queue === STATE_QUEUE);
    if (!work || !state || !this.catchUp.isCaughtUp) return null;
    return { queue: { ready: work.ready, consumers: work.consumers }, stateQueueDepth: state.ready };
  }
}

function brokerCheck(publishing: ConnectionStatus, consuming: ConnectionStatus): ReadinessCheck {
  if (publishing.up && consuming.up && !publishing.blocked) return { ok: true, detail: "connected" };
  if (publishing.blocked)
    return {
      ok: false,
      detail: "the broker blocks what is published (a memory or disk alarm)",
      remedy: FREE_THE_BROKER,
    };
  const loss = consuming.lastLoss ?? publishing.lastLoss;
  const detail = loss ? `${loss.kind}: ${loss.detail}` : "connecting";
  return {
    ok: false,
    detail,
    remedy: loss?.remedy ?? "Start RabbitMQ, or check AMQP_URL; the manager connects again by itself.",
  };
}
