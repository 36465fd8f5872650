import type { Delivery } from "@unacked/broker";
import type { Log } from "../../log.ts";
import type { ErrorReporter } from "./error-reporter.ts";

export interface ErrorWay {
  readonly errors: Pick<ErrorReporter, "report">;
  /** Whether this generation of the session still has its lease. */
  readonly holds: (generation: number) => boolean;
  readonly log: Log;
  /** Aborts when the process ends. */
  readonly closing: AbortSignal;
}

/**
 * Puts a message that cannot be read to the errors, and acks it when that is confirmed. A crash, or the end of the process, in
 * between leaves it with the broker.
 */
export async function giveToErrors(delivery: Delivery, reason: string, way: ErrorWay): Promise<void> {
  const { errors, holds, log, closing } = way;
  const { queue } = delivery;
  log.error({ event: "unreadable-message", queue, reason }, "a message could not be read; it goes to the error queue");
  try {
    await errors.report({ reason: "unreadable", detail: reason }, delivery, closing);
  } catch (error) {
    log.debug({ event: "report-abandoned", error: String(error) }, "the process ends; the message stays with the broker");
    return;
  }
  if (holds(delivery.generation)) delivery.settle("ack");
}
