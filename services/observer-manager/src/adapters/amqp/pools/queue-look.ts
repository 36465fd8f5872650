import { RefusedError, type Session } from "@unacked/broker";
import type { QueueCounts } from "../../../operations/pools/pool-queues.ts";
import { isDeleted } from "./queue-refusals.ts";

/**
 * Looks at a queue on a channel of its own, so that a refusal does not end the session. A deleted queue has no messages, and no consumer.
 * Null while it cannot be asked. Rejects when the session is lost.
 */
export async function lookAt(session: Session | undefined, queue: string): Promise<QueueCounts | null> {
  if (session === undefined) return null;
  const channel = await session.openSideChannel();
  try {
    const { messageCount: ready, consumerCount: consumers } = await channel.inspect(queue);
    return { ready, consumers };
  } catch (error) {
    if (isDeleted(error)) return { ready: 0, consumers: 0 };
    if (error instanceof RefusedError) return null;
    throw error;
  } finally {
    await channel.close();
  }
}
