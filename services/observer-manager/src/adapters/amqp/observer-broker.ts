import { type ConnectionStatus, Publisher, SupervisedConnection } from "@unacked/broker";
import { isOwnExchange, type ReadinessCheck } from "@unacked/contracts";
import type { Tracing } from "@unacked/tracing";
import type { ErrorBook } from "../../operations/books/books-store.ts";
import type { Ledger } from "../../operations/books/ledger.ts";
import type { CommandSender } from "../../operations/commands/command-store.ts";
import type { Log } from "../../operations/log.ts";
import type { AmqpSettings } from "./amqp-settings.ts";
import { brokerCheck, stateQueueCheck } from "./broker-checks.ts";
import { AmqpCommandSender } from "./commands/command-sender.ts";
import { MessageTracing } from "./deliveries/message-tracing.ts";
import { ErrorConsumer } from "./errors/error-consumer.ts";
import { AmqpLogReader } from "./logs/log-reader.ts";
import { QueueMarkers } from "./pools/queue-markers.ts";
import { QueueSurvey } from "./pools/queue-survey.ts";
import { WorkQueues } from "./pools/work-queues.ts";
import { RequestDepth } from "./requests/request-depth.ts";
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

/**
 * A publish without a confirm by then is sent again; until then its command stays claimed. Time under an alarm does not
 * count.
 */
const CONFIRM_TIMEOUT_MS = 10_000;

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
export class ObserverBroker {
  readonly sender: CommandSender;
  readonly catchUp: CatchUp;
  readonly logs: AmqpLogReader;
  readonly workQueues: WorkQueues;
  readonly markers: QueueMarkers;
  readonly survey: QueueSurvey;
  readonly #publisher: Publisher;
  readonly #states: StateConsumer;
  readonly #errors: ErrorConsumer;
  /** A connection of its own, so that a look at logs holds up no start and no stop. */
  readonly #questions: Publisher;
  readonly #consumption: SupervisedConnection;
  readonly #requests = new RequestDepth();

  constructor(settings: ObserverBrokerSettings, parts: ObserverBrokerParts) {
    const { broker, queueType, managerId } = settings;
    const tracing = settings.tracing && new MessageTracing(settings.tracing);
    const { log } = broker;
    const declare = topology(queueType);
    this.workQueues = new WorkQueues(() => this.#consumption.session, queueType, log);
    this.#states = new StateConsumer({ ...parts, log, tracing, born: (pool) => void this.#declareFor(pool, log) });
    const upkeep = new Upkeep(async (session) => {
      await declare(session);
      await this.logs.declare(session);
    });
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
          this.#requests.begin(session); // by itself: a look without an answer holds up neither the reading here nor the upkeep
        },
        onLost: () => {
          this.catchUp.end();
          this.logs.end();
          upkeep.end();
          this.#requests.end();
        },
      },
    );
    const { workQueues, catchUp } = this;
    const publisher = this.#publisher;
    this.sender = new AmqpCommandSender({ publisher, workQueues, managerId, log, tracing });
    this.markers = new QueueMarkers({ publisher, workQueues, managerId });
    this.survey = new QueueSurvey({ session: () => this.#consumption.session, publisher, workQueues, catchUp, queueType });
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
      stateQueue: stateQueueCheck(this.catchUp, this.#states),
    };
  }

  /** For how long events, and reports of errors, have failed, in ms; 0 while all goes well. */
  get failingForMs(): Record<"state" | "error", number> {
    return { state: this.#states.retries.failingForMs, error: this.#errors.retries.failingForMs };
  }

  /** As RequestDepth has it. */
  get requestsReady(): number | undefined {
    return this.#requests.ready;
  }

  /** Declares a pool's queue for a service whose user may not, and which waits for it. */
  async #declareFor(pool: string, log: Log): Promise<void> {
    try {
      await this.workQueues.ensure(pool);
    } catch (error) {
      log.debug({ event: "not-declared", pool, error: String(error) }, "it is tried again");
    }
  }
}
