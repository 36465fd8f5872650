import type { ConnectionStatus } from "@unacked/broker";
import { type ReadinessCheck, STATE_QUEUE } from "@unacked/contracts";
import { FREE_THE_BROKER } from "../../domain/overview/warnings/broker.ts";
import type { CatchUp } from "./state/catch-up.ts";
import type { StateConsumer } from "./state/state-consumer.ts";

/** After this long it is no longer a deadlock, or a database that is away for a moment. */
const FAILING_MS = 3_000;

/** Whether the broker can be spoken to, and takes what is published. */
export function brokerCheck(publishing: ConnectionStatus, consuming: ConnectionStatus): ReadinessCheck {
  if (publishing.up && consuming.up && !publishing.blocked) return { ok: true, detail: "connected" };
  if (publishing.blocked)
    return {
      ok: false,
      detail: "the broker blocks what is published (a memory or disk alarm)",
      remedy: FREE_THE_BROKER,
    };
  const loss = consuming.lastLoss ?? publishing.lastLoss;
  const detail = loss ? `${loss.kind}: ${loss.detail}` : "connecting";
  return {
    ok: false,
    detail,
    remedy: loss?.remedy ?? "Start RabbitMQ, or check AMQP_URL; the manager connects again by itself.",
  };
}

/** Whether the books follow the state queue, and have once been all that it said. */
export function stateQueueCheck(catchUp: CatchUp, { held, retries }: StateConsumer): ReadinessCheck {
  if (!catchUp.hasOnceCaughtUp)
    return {
      ok: false,
      detail: "the state queue has not been read empty yet",
      remedy: "Wait. If it goes on, see the manager's log.",
    };
  const waiting = `${catchUp.depth === null ? "unknown" : catchUp.depth + held} batches wait in ${STATE_QUEUE}`;
  // If nothing waits, here or in the queue, another manager has applied what failed here.
  if (retries.failingForMs < FAILING_MS || catchUp.isCaughtUp) return { ok: true, detail: waiting };
  const seconds = Math.round(retries.failingForMs / 1_000);
  return {
    ok: false,
    detail: `events could not be applied for ${seconds} s (${retries.why}); ${waiting}`,
    remedy: "The logs of the manager and of PostgreSQL say why. Nothing is lost meanwhile, and it is tried again.",
  };
}
