import type { Request, Response } from "express";
import { callerOf } from "./caller.ts";

const HEARTBEAT_MS = 15_000;
/** A client that leaves what was sent to it unread for so long is gone, or as good as. */
const MAX_STALLED_MS = 60_000;
/** When the connection breaks, a browser comes back after so long. */
const RECONNECT_MS = 1_000;

/** One event as it goes out (WHATWG HTML, 9.2). */
export function frameOf({ name, data, id }: { name: string; data: unknown; id?: string | undefined }): string {
  return `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/**
 * Sends the head of a stream. @returns false where nothing is to follow: HEAD was asked, or the client has gone while it was looked up who
 * asks, and for what. Of that nobody would be told any more, and what follows would never end.
 */
export function beginEventStream(request: Request, response: Response): boolean {
  if (response.destroyed) return false;
  response.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no", // proxies hold back what they take for a page
  });
  if (request.method === "HEAD") response.end();
  else response.write(`retry: ${RECONNECT_MS}\n\n`);
  return request.method !== "HEAD";
}

/** Says now and then that the stream lives, ends that of a client which does not read any more, and tells when it is gone (perhaps twice). */
export function keepEventStream(request: Request, response: Response, told: { hasRoom?(): void; isGone(): void }): void {
  /** As beats have found it: what is sent just before one, after long calm, is soon read. */
  let stalledSinceMs: number | undefined;
  const heartbeat = setInterval(() => {
    void sendAwayIfUnwelcome();
    const nowMs = performance.now();
    // Of one that was ended it is not said that it needs drain: while it is here, what was sent before is unread.
    const isUnread = response.writableNeedDrain || response.writableEnded;
    stalledSinceMs = isUnread ? (stalledSinceMs ?? nowMs) : undefined;
    if (stalledSinceMs === undefined) response.write(": still here\n\n");
    else if (nowMs - stalledSinceMs > MAX_STALLED_MS) response.destroy();
  }, HEARTBEAT_MS);
  /** A token that was taken back, or has expired, opens no stream, and keeps none open. */
  const sendAwayIfUnwelcome = async () => {
    if (await callerOf(response).isStillWelcome()) return;
    told.isGone();
    response.end();
  };
  response.on("drain", () => {
    stalledSinceMs = undefined;
    told.hasRoom?.();
  });
  response.on("error", () => undefined); // the client went; `close` follows
  response.once("close", () => {
    clearInterval(heartbeat);
    told.isGone();
  });
  request.socket.setNoDelay(true);
}

/** Sends what comes, no faster than the client reads, until it ends or the client has gone. Rejects as `events` does. */
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
