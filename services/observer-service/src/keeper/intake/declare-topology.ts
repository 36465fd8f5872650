import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "@unacked/broker";
import {
  controlQueue,
  EXCHANGES,
  errorQueue,
  type QueueDeclaration,
  type QueueType,
  type ServiceId,
  stateQueue,
  TOLD_WITHIN_MS,
  taskStateQueue,
  workQueue,
} from "@unacked/contracts";

const LOOK_AGAIN_MS = 500;

export interface TopologyParts {
  readonly serviceId: ServiceId;
  readonly pool: string;
  readonly queueType: QueueType;
  /**
   * False: the user of this service may declare nothing but its own control queue; the rest is the manager's to declare, and
   * is waited for. (Who may declare a queue may delete it.)
   */
  readonly declaresAll: boolean;
  /** Whether it runs tasks, and so tells of them. */
  readonly hasTasks: () => boolean;
}

/** What a service needs on the broker, and declares there itself or finds declared. */
export class Topology {
  readonly #parts: TopologyParts;
  readonly #work: QueueDeclaration;
  #wasThere = false;

  constructor(parts: TopologyParts) {
    this.#parts = parts;
    this.#work = workQueue(parts.pool, parts.queueType);
  }

  /** Everything that events, error reports and outputs and replies are published to: so that no manager need have been there first. */
  get forPublishing(): ((session: Session) => Promise<void>) | undefined {
    const { declaresAll, hasTasks, queueType } = this.#parts;
    if (!declaresAll) return undefined;
    return async (session) => {
      await declareForPublishing(session, queueType);
      if (hasTasks()) await session.declare(taskStateQueue(queueType));
    };
  }

  /** This generation's control queue; returns its name. */
  async declareForOrders(session: Session): Promise<string> {
    const control = this.#control(session);
    if (this.#parts.declaresAll) await session.declare(control);
    else await session.declareQueue(control);
    return control.name;
  }

  /**
   * Resolves to the name of the pool's work queue when it is there. One that was there before, and is gone, was deleted:
   * it is declared again when all who consumed from it have been told. Rejects when the session is lost.
   *
   * @param onMissing called if it has to be waited for
   */
  async untilWorkQueueIsThere(session: Session, onMissing: (queue: string) => void): Promise<string> {
    const { name } = this.#work;
    if (!(await this.#findWorkQueue(session))) {
      onMissing(name);
      const missingSinceMs = performance.now();
      do {
        await sleep(LOOK_AGAIN_MS);
        if (performance.now() - missingSinceMs > TOLD_WITHIN_MS) this.#wasThere = false;
      } while (!(await this.#findWorkQueue(session)));
    }
    this.#wasThere = true;
    return name;
  }

  /**
   * An exchange that somebody deletes takes its bindings along: no order and no start would arrive, and the manager's probe
   * would find this living service dead. Declaring what is there changes nothing. A work queue is not made by this: see TOLD_WITHIN_MS.
   */
  async stayReachable(session: Session): Promise<void> {
    const control = this.#control(session);
    if (!this.#parts.declaresAll) await session.bindAgain(control);
    else {
      await session.declare(control);
      await this.#bindWorkQueue(session);
    }
  }

  /** False where it is not there, and is not to be declared, or not yet. */
  async #findWorkQueue(session: Session): Promise<boolean> {
    if (!this.#parts.declaresAll) return session.isThere(this.#work.name);
    if (this.#wasThere) return this.#bindWorkQueue(session);
    await session.declare(this.#work);
    return true;
  }

  async #bindWorkQueue(session: Session): Promise<boolean> {
    for (const { exchange } of this.#work.bindings) await session.declareExchange(exchange);
    return session.bindAgain(this.#work);
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
