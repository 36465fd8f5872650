import type { Publisher, Session } from "@unacked/broker";
import { ERROR_QUEUE, type QueueType, STATE_QUEUE, workQueueName } from "@unacked/contracts";
import type { QueueLook } from "../../../operations/observers/reconciler.ts";
import type { QueuesNow } from "../../../operations/pools/pool-queues.ts";
import type { CatchUp } from "../state/catch-up.ts";
import type { WorkQueues } from "./work-queues.ts";

export interface QueueSurveyParts {
  /** That of the connection that consumes: under an alarm the broker does not read from the one that publishes. */
  session(): Session | undefined;
  publisher: Publisher;
  workQueues: WorkQueues;
  catchUp: CatchUp;
  queueType: QueueType;
}

/** What the broker says of the queues for observers. It asks when somebody looks, and keeps nothing. */
export class QueueSurvey implements QueueLook {
  readonly #parts: QueueSurveyParts;

  constructor(parts: QueueSurveyParts) {
    this.#parts = parts;
  }

  /** The queues of the pools, unwanted ones, and our own; null while the broker cannot be asked. */
  async queues(pools: string[]): Promise<QueuesNow | null> {
    const { publisher, workQueues, queueType } = this.#parts;
    const session = this.#parts.session();
    if (!session) return null;
    const { unwanted } = workQueues;
    const work = await workQueues.depths(pools);
    const depths = [...work, ...unwanted].map(({ pool, ...look }) => ({ queue: workQueueName(pool), ...look }));
    try {
      for (const queue of [STATE_QUEUE, ERROR_QUEUE]) {
        const { messageCount, consumerCount } = await session.inspect(queue);
        depths.push({ queue, ready: messageCount, consumers: consumerCount });
      }
    } catch {
      return null; // the session was lost while asking
    }
    const broker = { brokerVersion: session.brokerVersion, queueType };
    const isBlocked = publisher.status.blocked;
    return { depths, troubles: workQueues.troubles, unwanted, broker, isBlocked };
  }

  /** A look at a pool's queue, for the reconciler. */
  async look(pool: string): ReturnType<QueueLook["look"]> {
    const queues = await this.queues([pool]);
    const work = queues?.depths.find(({ queue }) => queue === workQueueName(pool));
    const state = queues?.depths.find(({ queue }) => queue === STATE_QUEUE);
    if (!work || !state || !this.#parts.catchUp.isCaughtUp) return null;
    return { queue: { ready: work.ready, consumers: work.consumers }, stateQueueDepth: state.ready };
  }
}
