import { z } from "zod";
import { jsonValue, timestamp } from "../bounds.ts";
import { Labels, MessageId, ObserverId, ObserverName, PoolName, Revision, TypeName } from "../ids.ts";
import { SpecVersion } from "../observer-spec.ts";
import { RetryPolicy } from "../retry.ts";
import { ToldSilence } from "../silence.ts";

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
  /** Instead of its type's. Services of older versions watch nobody. */
  silence: ToldSilence.nullish(),
  /** Of the spec that it was made of. Not sent by managers that cannot change one. */
  specVersion: SpecVersion.optional(),
  /** For display. */
  createdAt: timestamp,
});
export type StartObserver = z.infer<typeof StartObserver>;
