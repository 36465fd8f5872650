import type { Request, Response } from "express";
import { callerOf } from "./caller.ts";

const HEARTBEAT_MS = 15_000;
/** A client that leaves what was sent to it unread for this long counts as gone. */
const MAX_STALLED_MS = 60_000;
/** When the connection breaks, a browser comes back after this time. */
const RECONNECT_MS = 1_000;

/** The text of one event (WHATWG HTML, 9.2). */
export function frameOf({ name, data, id }: { name: string; data: unknown; id?: string | undefined }): string {
  return `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/**
 * Sends the head of a stream. @returns false if nothing is to follow: the request was HEAD, or the client left while the caller was looked
 * up. Nothing would report that later, and the stream would never end.
 */
export function beginEventStream(request: Request, response: Response): boolean {
  if (response.destroyed) return false;
  response.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no", // otherwise proxies hold it back as they do with a page
  });
  if (request.method === "HEAD") response.end();
  else response.write(`retry: ${RECONNECT_MS}\n\n`);
  return request.method !== "HEAD";
}

/**
 * Sends a sign of life now and then, ends the stream of a client that no longer reads, and tells when the client is gone (perhaps twice).
 */
export function keepEventStream(request: Request, response: Response, told: { hasRoom?(): void; isGone(): void }): void {
  /** Since when it is unread, as beats have seen it: what is sent just before one, after long calm, is soon read. */
  let stalledSinceMs: number | undefined;
  const heartbeat = setInterval(() => {
    void sendAwayIfUnwelcome();
    const nowMs = performance.now();
    // A response that was ended no longer reports that it needs drain: while it is here, what was sent before is unread.
    const isUnread = response.writableNeedDrain || response.writableEnded;
    stalledSinceMs = isUnread ? (stalledSinceMs ?? nowMs) : undefined;
    if (stalledSinceMs === undefined) response.write(": still here\n\n");
    else if (nowMs - stalledSinceMs > MAX_STALLED_MS) response.destroy();
  }, HEARTBEAT_MS);
  /** A token that was revoked, or has expired, opens no stream, and keeps none open. */
  const sendAwayIfUnwelcome = async () => {
    if (await callerOf(response).isStillWelcome()) return;
    told.isGone();
    response.end();
  };
  response.on("drain", () => {
    stalledSinceMs = undefined;
    told.hasRoom?.();
  });
  response.on("error", () => undefined); // the client left, and `close` follows
  response.once("close", () => {
    clearInterval(heartbeat);
    told.isGone();
  });
  request.socket.setNoDelay(true);
}

/** Sends events, no faster than the client reads, until they end or the client has gone. Rejects like `events`. */
export async function sendEventStream(
  request: Request,
  response: Response,
  events: (signal: AbortSignal) => AsyncIterable<{ name: string; data: unknown; id?: string | undefined }>,
): Promise<void> {
  if (!beginEventStream(request, response)) return;
  const gone = new AbortController();
  let wake = (): void => undefined;
  keepEventStream(request, response, {
    hasRoom: () => wake(),
    isGone: () => {
      gone.abort();
      wake();
    },
  });
  for await (const event of events(gone.signal)) {
    if (gone.signal.aborted) return;
    if (!response.write(frameOf(event))) await new Promise<void>((resolve) => (wake = resolve));
  }
  response.end();
}
