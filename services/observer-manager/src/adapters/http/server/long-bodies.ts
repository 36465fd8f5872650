import type { NextFunction, RequestHandler, Response } from "express";
import { HttpProblem } from "../api/http-problem.ts";
import type { BodyRoom, GiveBack } from "./body-room.ts";
import { untilGone } from "./until-gone.ts";

/** A body up to this length never waits for others. Nearly all bodies of single calls are shorter. */
const SHORT_BYTES = 65_536;
const NO_ROOM = {
  code: "not-ready",
  detail: "Other long bodies are being handled now, and nothing of this one was taken",
  retryAfterS: 5,
} as const;

/**
 * Before a body of at most `limit` is read: a long one waits for room, which it has until its request is handled (`handlingBody`), or has ended before
 * that. Of a chunked one nobody has said how long it will be: it counts as the longest. What is too long is left to the reader, which refuses it unread.
 */
export const roomForBody =
  (limit: number, room: BodyRoom): RequestHandler =>
  ({ headers }, response, next) => {
    const bytes = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : limit;
    if (bytes <= SHORT_BYTES || bytes > limit) return next();
    return takeRoom(room, bytes, response, next);
  };

/** The room is given back when `handle` resolves or rejects, even if the client has left: until then the body is in memory. */
export async function handlingBody(response: Response, handle: () => Promise<void>): Promise<void> {
  const giveBack = response.locals["bodyRoom"] as GiveBack | undefined;
  if (giveBack === undefined) return handle();
  response.off("close", giveBack);
  await handle().finally(giveBack);
}

async function takeRoom(room: BodyRoom, bytes: number, response: Response, next: NextFunction): Promise<void> {
  const giveBack = await room.take(bytes, untilGone(response));
  if (giveBack === undefined) throw new HttpProblem(NO_ROOM);
  if (response.destroyed) return giveBack();
  response.locals["bodyRoom"] = giveBack;
  response.once("close", giveBack);
  next();
}
