import type { Publisher } from "@unacked/broker";
import { EXCHANGES, newMessageId, outputKey, type RunId, type ServiceId, type StartObserver } from "@unacked/contracts";
import { runAsService } from "./isolation.ts";

/** Well below what the publisher lets wait, so that a flood of outputs cannot keep the events of runs waiting. */
const MAX_WAITING = 10_000;

/** Too many outputs wait for their confirm: the broker blocks, or the observers emit faster than it takes. Await `emit`. */
export class OutputOverflowError extends Error {
  override readonly name = "OutputOverflowError";
  readonly code = "output-overflow";
}

/** Publishes what an observer emits: to `unacked.output`, key `<type>.<name>`; nobody need have bound a queue. */
export type Output = (start: StartObserver, runId: RunId, eventJson: string) => Promise<void>;

export function createOutput(
  publisher: Pick<Publisher, "publish">,
  serviceId: ServiceId,
  onSettled: (outcome: "confirmed" | "failed") => void,
): Output {
  let waiting = 0;
  return async ({ observerId, name, type }, runId, eventJson) => {
    if (waiting >= MAX_WAITING)
      throw new OutputOverflowError(`${MAX_WAITING} emitted events wait for the broker already; this one is not sent`);
    const about = JSON.stringify({ observerId, name, type, runId, at: Date.now() });
    const body = Buffer.from(`${about.slice(0, -1)},"event":${eventJson}}`);
    const message = {
      exchange: EXCHANGES.output.name,
      routingKey: outputKey(type, name),
      type: "Output",
      messageId: newMessageId(),
      appId: serviceId,
      mandatory: false,
      body,
    };
    waiting += 1;
    try {
      await runAsService(() => publisher.publish(message));
      onSettled("confirmed");
    } catch (error) {
      onSettled("failed");
      throw error;
    } finally {
      waiting -= 1;
    }
  };
}
