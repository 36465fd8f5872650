import type { Session } from "@unacked/broker";
import {
  controlQueue,
  EXCHANGES,
  errorQueue,
  type QueueDeclaration,
  type QueueType,
  type ServiceId,
  stateQueue,
  taskStateQueue,
  workQueue,
} from "@unacked/contracts";
import { ConsumedQueue, type OnMissing } from "../consumed-queue.ts";

export interface TopologyParts {
  readonly serviceId: ServiceId;
  readonly pool: string;
  readonly queueType: QueueType;
  /**
   * False if this service's user may declare only its own control queue: then it waits for the manager to declare the rest.
   * (Whoever may declare a queue may delete it.)
   */
  readonly declaresAll: boolean;
  /** Whether it runs tasks, and so reports on them. */
  readonly hasTasks: () => boolean;
}

/** What a service needs on the broker: it declares it itself, or waits until it is declared. */
export class Topology {
  readonly #parts: TopologyParts;
  readonly #work: ConsumedQueue;

  constructor(parts: TopologyParts) {
    this.#parts = parts;
    this.#work = new ConsumedQueue(workQueue(parts.pool, parts.queueType), parts.declaresAll);
  }

  /**
   * Declares everything that events, error reports, outputs and replies are published to, so that no manager need have been there
   * first.
   */
  get forPublishing(): ((session: Session) => Promise<void>) | undefined {
    const { declaresAll, hasTasks, queueType } = this.#parts;
    if (!declaresAll) return undefined;
    return async (session) => {
      await declareForPublishing(session, queueType);
      // The waiting part (task-side.ts) reports a refusal. Observers' events go out all the same.
      if (hasTasks()) await session.tryToDeclare(taskStateQueue(queueType));
    };
  }

  /** Declares this generation's control queue, and returns its name. */
  async declareForOrders(session: Session): Promise<string> {
    const control = this.#control(session);
    if (this.#parts.declaresAll) await session.declare(control);
    else await session.declareQueue(control);
    return control.name;
  }

  /** Resolves to the name of the pool's work queue when that exists. Rejects when the session is lost. */
  async untilWorkQueueIsThere(session: Session, onMissing: OnMissing): Promise<string> {
    await this.#work.untilThere(session, onMissing);
    return this.#work.name;
  }

  /**
   * Declares and binds again: an exchange that somebody deletes takes its bindings along, so that no order and no start would
   * arrive, and the manager's probe would find this living service dead. What exists is not changed. It never creates a work queue
   * (TOLD_WITHIN_MS).
   */
  async stayReachable(session: Session): Promise<void> {
    const control = this.#control(session);
    if (!this.#parts.declaresAll) await session.bindAgain(control);
    else {
      await session.declare(control);
      await this.#work.bind(session);
    }
  }

  #control({ generation }: Session): QueueDeclaration {
    return controlQueue(this.#parts.serviceId, generation);
  }
}

async function declareForPublishing(session: Session, queueType: QueueType): Promise<void> {
  await session.declareExchange(EXCHANGES.output);
  await session.declareExchange(EXCHANGES.replies);
  await session.declare(stateQueue(queueType));
  await session.declare(errorQueue(queueType));
}
