import { z } from "zod";
import { jsonValue, timestamp } from "./bounds.ts";
import { Labels, MessageId, ObserverId, ObserverName, PoolName, Revision, TypeName } from "./ids.ts";
import { RetryPolicy } from "./retry.ts";

/** Manager → work queue. The job itself: unacked while it runs, acked only when it is over. Persistent, mandatory. */
export const StartObserver = z.object({
  observerId: ObserverId,
  revision: Revision,
  messageId: MessageId,
  name: ObserverName,
  type: TypeName,
  params: jsonValue,
  labels: Labels.default({}),
  retry: RetryPolicy,
  pool: PoolName,
  /** For display. */
  createdAt: timestamp,
});
export type StartObserver = z.infer<typeof StartObserver>;
