import { ObserverView, ServiceView } from "@unacked/contracts";
import type { Connection } from "./connection.ts";
import { decodeEvent } from "./decode-answer.ts";
import type { EventBlock } from "./event-blocks.ts";
import { followStream, type StreamLost } from "./event-stream.ts";

export const EVENTS_PATH = "/api/v1/events";

/** `ready`: everything from here on is told. `resync`: something was skipped, read anew what you know. */
export type ChangeNews =
  | { kind: "observer"; view: ObserverView }
  | { kind: "service"; view: ServiceView }
  | { kind: "ready" }
  | { kind: "resync" }
  | StreamLost;

/** Follows GET /events until `signal`; the first `ready` is the beginning. No change is skipped without a `resync`. */
export async function* followChanges(connection: Connection, signal: AbortSignal): AsyncGenerator<ChangeNews> {
  for await (const block of followStream(connection, { path: EVENTS_PATH }, signal)) {
    if ("kind" in block) yield block;
    else yield* newsOf(block, `GET ${connection.url}${EVENTS_PATH}`);
  }
}

function newsOf(block: EventBlock, request: string): ChangeNews[] {
  switch (block.event) {
    case "observer":
      return [{ kind: "observer", view: decodeEvent(ObserverView, block, request) }];
    case "service":
      return [{ kind: "service", view: decodeEvent(ServiceView, block, request) }];
    case "ready":
    case "resync":
      return [{ kind: block.event }];
    default:
      return []; // a newer manager's; the format asks to pass over what one does not know
  }
}
