import type { Publisher } from "@unacked/broker";
import {
  EXCHANGES,
  newMessageId,
  OUTPUT_HEADERS,
  outputKey,
  type RunId,
  type ServiceId,
  type StartObserver,
} from "@unacked/contracts";
import { MAX_EVENT_BYTES, OutputTooLargeError } from "@unacked/sdk";
import { MAX_UNCONFIRMED, OutputOverflowError } from "@unacked/sdk/host";
import { runAsService } from "../../isolation.ts";

/** Publishes an observer's output to `unacked.output`, key `<type>.<name>`. No queue needs to be bound. */
export type Output = (
  start: Pick<StartObserver, "observerId" | "name" | "type">,
  run: { readonly runId: RunId; readonly fencingToken?: number | undefined },
  eventJson: string,
  /** If it aborts, what has not been sent is not sent any more: its handler has gone with its slot. */
  wanted?: AbortSignal,
) => Promise<void>;

export function createOutput(
  publisher: Pick<Publisher, "publish">,
  serviceId: ServiceId,
  onSettled: (outcome: "confirmed" | "failed", type: string) => void,
): Output {
  let waiting = 0;
  return async ({ observerId, name, type }, { runId, fencingToken }, eventJson, wanted) => {
    // Well below what the publisher lets wait, so that a flood of outputs cannot keep the events of runs waiting.
    if (waiting >= MAX_UNCONFIRMED) throw new OutputOverflowError(MAX_UNCONFIRMED);
    const bytes = Buffer.byteLength(eventJson);
    if (bytes > MAX_EVENT_BYTES) throw new OutputTooLargeError(bytes);
    const about = JSON.stringify({ observerId, name, type, runId, at: Date.now() });
    const body = Buffer.from(`${about.slice(0, -1)},"event":${eventJson}}`);
    const message = {
      exchange: EXCHANGES.output.name,
      routingKey: outputKey(type, name),
      type: "Output",
      messageId: newMessageId(),
      appId: serviceId,
      mandatory: false,
      headers: {
        [OUTPUT_HEADERS.runId]: runId,
        ...(fencingToken !== undefined && { [OUTPUT_HEADERS.fencingToken]: fencingToken }),
      },
      body,
    };
    waiting += 1;
    try {
      await runAsService(() => publisher.publish(message, wanted));
      onSettled("confirmed", type);
    } catch (error) {
      onSettled("failed", type);
      throw error;
    } finally {
      waiting -= 1;
    }
  };
}
