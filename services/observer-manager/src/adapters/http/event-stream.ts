import type { RequestHandler, Response } from "express";
import type { ChangeEvent, ChangeSink } from "../../flows/change-stream.ts";
import type { ManagerApi } from "../../flows/manager-api.ts";
import { readEventQuery } from "./event-query.ts";
import { beginEventStream, frameOf, keepEventStream } from "./server-sent-events.ts";

/** More than this waiting for a client to read, and it reads from the books later instead. */
const MAX_BUFFERED_BYTES = 1_048_576;

/**
 * GET /events: server-sent events (WHATWG HTML, 9.2). `id` is a place in the books that every manager understands, so a client
 * that lost this manager goes on at another where it was.
 */
export function eventStream(changes: ManagerApi["changes"]): RequestHandler {
  return (request, response) => {
    const lastEventId = readEventQuery(request);
    if (!beginEventStream(request, response)) return;
    const subscription = changes.subscribe(sinkOf(response), lastEventId);
    keepEventStream(request, response, { hasRoom: () => subscription.resume(), isGone: () => subscription.close() });
  };
}

function sinkOf(response: Response): ChangeSink {
  return {
    send(event) {
      response.write(writtenOnce(event));
      return response.writableLength <= MAX_BUFFERED_BYTES;
    },
    end: () => response.end(),
  };
}

/** An event goes to many clients: written as text once. */
const frames = new WeakMap<ChangeEvent, string>();

function writtenOnce(event: ChangeEvent): string {
  const known = frames.get(event);
  if (known !== undefined) return known;
  const frame = frameOf({ name: event.kind, id: event.cursor, data: dataOf(event) });
  frames.set(event, frame);
  return frame;
}

function dataOf(event: ChangeEvent): unknown {
  switch (event.kind) {
    case "observer":
    case "service":
      return event.view;
    case "ready":
      return { cursor: event.cursor };
    case "resync":
      return { cursor: event.cursor, reason: event.reason };
    default:
      return event satisfies never;
  }
}
