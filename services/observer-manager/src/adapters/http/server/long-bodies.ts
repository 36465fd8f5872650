import type { Request, RequestHandler, Response } from "express";
import { HttpProblem } from "../api/http-problem.ts";
import type { BodyRoom, GiveBack } from "./body-room.ts";
import { untilGone } from "./until-gone.ts";

/** A body up to this never waits for others; nearly all of single calls are shorter. */
const SHORT_BYTES = 65_536;
const NO_ROOM = {
  code: "not-ready",
  detail: "Other long bodies are being handled now, and nothing of this one was taken",
  retryAfterS: 5,
} as const;

/**
 * Before a body of at most `limit` is read: a long one waits for room, which it has until its request is handled (`handlingBody`), or has ended before
 * that. What is too long is left to the reader, which refuses it unread.
 */
export const roomForBody =
  (limit: number, room: BodyRoom): RequestHandler =>
  (request, response, next) => {
    if (request.headers["transfer-encoding"] !== undefined) {
      waitWhenLong(request, (goOn) => takeRoom(room, limit, response, goOn));
      return next();
    }
    const bytes = Number(request.headers["content-length"] ?? 0);
    if (bytes <= SHORT_BYTES || bytes > limit) return next();
    return takeRoom(room, bytes, response, next);
  };

/** Its room is given back by what it resolves or rejects with, whether or not its client is still there: until then it is in memory. */
export async function handlingBody(response: Response, handle: () => Promise<void>): Promise<void> {
  const giveBack = response.locals["bodyRoom"] as GiveBack | undefined;
  if (giveBack === undefined) return handle();
  response.off("close", giveBack);
  await handle().finally(giveBack);
}

async function takeRoom(room: BodyRoom, bytes: number, response: Response, goOn: () => void): Promise<void> {
  const giveBack = await room.take(bytes, untilGone(response));
  if (giveBack === undefined) throw new HttpProblem(NO_ROOM);
  if (response.destroyed) return giveBack();
  response.locals["bodyRoom"] = giveBack;
  response.once("close", giveBack);
  goOn();
}

/** Of a chunked one nobody has said how long it will be: once it is no longer short it needs room for the longest. */
function waitWhenLong(request: Request, take: (goOn: () => void) => Promise<void>): void {
  let arrived = 0;
  const count = (part: Buffer): void => {
    arrived += part.length;
    if (arrived <= SHORT_BYTES) return;
    request.off("data", count).pause();
    take(() => void request.resume()).catch((error: unknown) => {
      if (!request.destroyed) request.emit("error", error); // the reader takes it for its own, and reads no further
    });
  };
  request.on("data", count);
}
