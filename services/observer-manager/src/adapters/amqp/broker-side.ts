import { type BrokerSettings, type ConnectionStatus, Publisher, SupervisedConnection } from "@unacked/broker";
import {
  ERROR_QUEUE,
  type QueueDepth,
  type QueueType,
  type ReadinessCheck,
  STATE_QUEUE,
  workQueueName,
} from "@unacked/contracts";
import type { Tracing } from "@unacked/tracing";
import type { CommandSender } from "../../flows/dispatcher.ts";
import type { ErrorBook } from "../../flows/error-book.ts";
import type { Ledger } from "../../flows/ledger.ts";
import type { Log } from "../../flows/log.ts";
import type { QueueLook } from "../../flows/reconciler.ts";
import { CatchUp } from "./catch-up.ts";
import { AmqpCommandSender } from "./command-sender.ts";
import { ErrorConsumer } from "./error-consumer.ts";
import { AmqpLogReader } from "./log-reader.ts";
import { MessageTracing } from "./message-tracing.ts";
import { StateConsumer } from "./state-consumer.ts";
import { topology } from "./topology.ts";
import { Upkeep } from "./upkeep.ts";
import { WorkQueues } from "./work-queues.ts";

export interface BrokerSideSettings {
  broker: Pick<BrokerSettings, "url" | "tls" | "heartbeatS"> & { log: Log };
  queueType: QueueType;
  managerId: string;
  /** Undefined: nothing is traced. */
  tracing: Tracing | undefined;
}

export interface BrokerSideParts {
  ledger: Ledger;
  errors: ErrorBook;
  /** Told after each commit of the ledger: commands may have been written. */
  committed(): void;
}

/** A publish that is not confirmed by then is sent again; meanwhile its command's row is locked. */
const CONFIRM_TIMEOUT_MS = 10_000;

/** Everything of the manager that lives on the broker: one connection to consume, one to publish. */
export class BrokerSide implements QueueLook {
  readonly sender: CommandSender;
  readonly catchUp: CatchUp;
  readonly logs: AmqpLogReader;
  readonly #publisher: Publisher;
  readonly #consumption: SupervisedConnection;
  readonly #workQueues: WorkQueues;

  constructor(settings: BrokerSideSettings, parts: BrokerSideParts) {
    const { broker, queueType, managerId } = settings;
    const tracing = settings.tracing && new MessageTracing(settings.tracing);
    const { log } = broker;
    const declare = topology(queueType);
    this.#workQueues = new WorkQueues(() => this.#consumption.session, queueType);
    const states = new StateConsumer({ ...parts, log, tracing, born: (pool) => void this.#declareFor(pool, log) });
    const upkeep = new Upkeep(declare, this.#workQueues);
    const errors = new ErrorConsumer(parts.errors, log);
    this.catchUp = new CatchUp(() => states.isIdle);
    this.#publisher = new Publisher(
      { ...broker, connectionName: "unacked-manager-publish" },
      { declare, confirmTimeoutMs: CONFIRM_TIMEOUT_MS },
    );
    this.logs = new AmqpLogReader({ publisher: this.#publisher, managerId, log });
    this.#consumption = new SupervisedConnection(
      { ...broker, connectionName: "unacked-manager-consume" },
      {
        build: async (session) => {
          await declare(session);
          await states.begin(session);
          await errors.begin(session);
          await this.logs.begin(session);
          this.catchUp.begin(session);
          upkeep.begin(session);
        },
        onLost: () => {
          this.catchUp.end();
          this.logs.end();
          upkeep.end();
        },
      },
    );
    this.sender = new AmqpCommandSender({
      publisher: this.#publisher,
      workQueues: this.#workQueues,
      managerId,
      log,
      tracing,
    });
  }

  start(): void {
    this.#publisher.start();
    this.#consumption.start();
  }

  async close(): Promise<void> {
    await Promise.all([this.#consumption.close(), this.#publisher.close()]);
  }

  /** For metrics. */
  get connections(): Record<"consume" | "publish", ConnectionStatus> {
    return { consume: this.#consumption.status, publish: this.#publisher.status };
  }

  /** For readiness: broker, and whether the books have once caught up. */
  checks(): Record<string, ReadinessCheck> {
    return {
      broker: brokerCheck(this.#publisher.status, this.#consumption.status),
      stateQueue: this.catchUp.hasOnceCaughtUp
        ? { ok: true, detail: `${this.catchUp.depth ?? "unknown"} batches wait in ${STATE_QUEUE}` }
        : {
            ok: false,
            detail: "the state queue has not been read empty yet",
            remedy: "Wait; see the manager's log if it lasts.",
          },
    };
  }

  /** Ready messages and consumers of the pools' queues and of our own; null while the broker cannot be asked. */
  async queueDepths(pools: string[]): Promise<QueueDepth[] | null> {
    const session = this.#consumption.session;
    if (!session) return null;
    try {
      // Looking at a queue that is not there would cost the session.
      for (const pool of pools) await this.#workQueues.ensure(pool);
      const depths: QueueDepth[] = [];
      for (const queue of [...pools.map(workQueueName), STATE_QUEUE, ERROR_QUEUE]) {
        const { messageCount, consumerCount } = await session.inspect(queue);
        depths.push({ queue, ready: messageCount, consumers: consumerCount });
      }
      return depths;
    } catch {
      return null; // the session was lost while asking
    }
  }

  /** A service whose user may not declare its pool's queue waits for it. */
  async #declareFor(pool: string, log: Log): Promise<void> {
    try {
      await this.#workQueues.ensure(pool);
    } catch (error) {
      log.debug({ event: "declare-refused", pool, error: String(error) }, "the session is lost with it, and says why");
    }
  }

  /** For the reconciler. */
  async look(pool: string): ReturnType<QueueLook["look"]> {
    const depths = await this.queueDepths([pool]);
    const work = depths?.find(({ queue }) => queue === workQueueName(pool));
    const state = depths?.find(({ queue }) => queue === STATE_QUEUE);
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
      remedy: "Free memory or disk on the broker; starts and stops wait meanwhile.",
    };
  const loss = consuming.lastLoss ?? publishing.lastLoss;
  const detail = loss ? `${loss.kind}: ${loss.detail}` : "connecting";
  return {
    ok: false,
    detail,
    remedy: loss?.remedy ?? "Start RabbitMQ, or check AMQP_URL; the manager connects again by itself.",
  };
}
