import type { Publisher } from "@unacked/broker";
import { EXCHANGES, newMessageId, outputKey, type RunId, type ServiceId, type StartObserver } from "@unacked/contracts";
import { runAsService } from "./isolation.ts";

/** Publishes what an observer emits: to `unacked.output`, key `<type>.<name>`; nobody need have bound a queue. */
export type Output = (start: StartObserver, runId: RunId, eventJson: string) => Promise<void>;

export function createOutput(publisher: Pick<Publisher, "publish">, serviceId: ServiceId): Output {
  return ({ observerId, name, type }, runId, eventJson) => {
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
    return runAsService(() => publisher.publish(message));
  };
}
