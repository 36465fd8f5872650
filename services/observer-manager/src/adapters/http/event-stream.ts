import type { Request, RequestHandler, Response } from "express";
import type { ChangeEvent, ChangeSink } from "../../flows/change-stream.ts";
import type { ManagerApi } from "../../flows/manager-api.ts";
import { callerOf } from "./caller.ts";
import { readEventQuery } from "./event-query.ts";

const HEARTBEAT_MS = 15_000;
/** More than this waiting for a client to read, and it reads from the books later instead. */
const MAX_BUFFERED_BYTES = 1_048_576;
/** A client that has not read a byte for so long is gone, or as good as. */
const MAX_STALLED_MS = 60_000;
/** When the connection breaks, a browser comes back after so long. */
const RECONNECT_MS = 1_000;

/**
 * GET /events: server-sent events (WHATWG HTML, 9.2). `id` is a place in the books that every manager understands, so a client
 * that lost this manager goes on at another where it was.
 */
export function eventStream(changes: ManagerApi["changes"]): RequestHandler {
  return (request, response) => {
    const lastEventId = readEventQuery(request);
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Accel-Buffering": "no", // proxies hold back what they take for a page
    });
    if (request.method === "HEAD") response.end();
    else follow(request, response, changes, lastEventId);
  };
}

function follow(
  request: Request,
  response: Response,
  changes: ManagerApi["changes"],
  lastEventId: string | undefined,
): void {
  response.write(`retry: ${RECONNECT_MS}\n\n`);
  const subscription = changes.subscribe(sinkOf(response), lastEventId);
  let lastProgressAt = performance.now();
  const heartbeat = setInterval(() => {
    void sendAwayIfUnwelcome();
    if (!response.writableNeedDrain) response.write(": still here\n\n");
    else if (performance.now() - lastProgressAt > MAX_STALLED_MS) response.destroy();
  }, HEARTBEAT_MS);
  /** A token that was taken back, or has expired, opens no stream, and keeps none open. */
  const sendAwayIfUnwelcome = async () => {
    if (await callerOf(response).isStillWelcome()) return;
    subscription.close();
    response.end();
  };
  response.on("drain", () => {
    lastProgressAt = performance.now();
    subscription.resume();
  });
  response.on("error", () => undefined); // the client went; `close` follows
  response.once("close", () => {
    clearInterval(heartbeat);
    subscription.close();
  });
  request.socket.setNoDelay(true);
}

function sinkOf(response: Response): ChangeSink {
  return {
    send(event) {
      response.write(frameOf(event));
      return response.writableLength <= MAX_BUFFERED_BYTES;
    },
    end: () => response.end(),
  };
}

/** An event goes to many clients: written as text once. */
const frames = new WeakMap<ChangeEvent, string>();

function frameOf(event: ChangeEvent): string {
  const known = frames.get(event);
  if (known !== undefined) return known;
  const id = event.cursor === undefined ? "" : `id: ${event.cursor}\n`;
  const frame = `event: ${event.kind}\n${id}data: ${JSON.stringify(dataOf(event))}\n\n`;
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
