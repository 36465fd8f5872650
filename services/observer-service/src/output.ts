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

/** RabbitMQ 4 refuses 16 MiB, and closes the channel over it: what every observer of the service says goes through that one. */
export const MAX_EVENT_BYTES = 1_048_576;

/** One event is too large. Emit where the data is, not the data. */
export class OutputTooLargeError extends Error {
  override readonly name = "OutputTooLargeError";
  readonly code = "output-too-large";
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
    const bytes = Buffer.byteLength(eventJson);
    if (bytes > MAX_EVENT_BYTES)
      throw new OutputTooLargeError(`an emitted event may have ${MAX_EVENT_BYTES} bytes as JSON, and this one has ${bytes}`);
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
