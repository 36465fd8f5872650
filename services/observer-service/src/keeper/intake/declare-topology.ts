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

  constructor(parts: TopologyParts) {
    this.#parts = parts;
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

  /** The pool's work queue and this generation's control queue; returns their names. */
  async declareForConsuming(session: Session): Promise<{ work: string; control: string }> {
    const [work, control] = this.#queues(session);
    if (this.#parts.declaresAll) await session.declare(work);
    if (this.#parts.declaresAll) await session.declare(control);
    else await session.declareQueue(control);
    return { work: work.name, control: control.name };
  }

  /** Where it is the manager's to declare. Rejects when the session is lost. @param onMissing called if it has to be waited for */
  async untilWorkQueueIsThere(session: Session, onMissing: (queue: string) => void): Promise<void> {
    const [{ name }] = this.#queues(session);
    if (this.#parts.declaresAll || (await session.isThere(name))) return;
    onMissing(name);
    do await sleep(LOOK_AGAIN_MS);
    while (!(await session.isThere(name)));
  }

  /**
   * An exchange that somebody deletes takes its bindings along: no order would arrive, and the manager's probe would find
   * this living service dead. Declaring what is there changes nothing.
   */
  async stayReachable(session: Session): Promise<void> {
    if (this.#parts.declaresAll) await this.declareForConsuming(session);
    else await session.bindAgain(this.#queues(session)[1]);
  }

  #queues(session: Session): [work: QueueDeclaration, control: QueueDeclaration] {
    const { serviceId, pool, queueType } = this.#parts;
    return [workQueue(pool, queueType), controlQueue(serviceId, session.generation)];
  }
}

async function declareForPublishing(session: Session, queueType: QueueType): Promise<void> {
  await session.declareExchange(EXCHANGES.output);
  await session.declareExchange(EXCHANGES.replies);
  await session.declare(stateQueue(queueType));
  await session.declare(errorQueue(queueType));
}
