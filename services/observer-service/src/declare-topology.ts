import type { Session } from "@unacked/broker";
import {
  controlQueue,
  EXCHANGES,
  errorQueue,
  type ServiceId,
  stateQueue,
  type WorkQueueType,
  workQueue,
} from "@unacked/contracts";

/** Everything that events, error reports and outputs are published to: so that no manager need have been there first. */
export async function declareForPublishing(session: Session): Promise<void> {
  await session.declareExchange(EXCHANGES.output);
  await session.declare(stateQueue);
  await session.declare(errorQueue);
}

/** The pool's work queue and this generation's control queue; returns their names. */
export async function declareForConsuming(
  session: Session,
  { serviceId, pool, workQueueType }: { serviceId: ServiceId; pool: string; workQueueType: WorkQueueType },
): Promise<{ work: string; control: string }> {
  const [work, control] = [workQueue(pool, workQueueType), controlQueue(serviceId, session.generation)];
  await session.declare(work);
  await session.declare(control);
  return { work: work.name, control: control.name };
}
