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
  /** Replaces its type's limits. Services of older versions do not watch observers. */
  silence: ToldSilence.nullish(),
  /** The version of the spec that it was made from. Not sent by managers that cannot change one. */
  specVersion: SpecVersion.optional(),
  /** For display. */
  createdAt: timestamp,
});
export type StartObserver = z.infer<typeof StartObserver>;
