import { MAX_JSON_DEPTH } from "@unacked/contracts";
import type { RequestHandler, Response } from "express";
import { jsonWeight } from "../../../domain/json-weight.ts";
import type { Refusal } from "../../../operations/refusal.ts";
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
const TOO_DEEP: Omit<Refusal, "kind"> = {
  code: "invalid-body",
  errors: [{ pointer: "", message: `nested deeper than ${MAX_JSON_DEPTH} levels` }],
};

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

/**
 * Before a body that was read is parsed: a long one waits for room by its weight, and is refused if all the room would not do for it, or if it
 * is nested too deeply to be parsed.
 */
export const roomForValues =
  (room: BodyRoom): RequestHandler =>
  ({ body }: { body: unknown }, response, next) => {
    if (!Buffer.isBuffer(body) || body.length <= SHORT_BYTES) return next();
    const weight = jsonWeight(body);
    if (weight === undefined) throw new HttpProblem(TOO_DEEP);
    if (weight > room.bytes) throw new HttpProblem({ code: "body-too-large", detail: tooHeavy(body.length, weight, room) });
    return takeRoom(room, weight, response, next);
  };

const mib = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;
const tooHeavy = (length: number, weight: number, { bytes }: BodyRoom): string =>
  `These ${mib(length)} of JSON would take ${mib(weight)} of memory with all their values, and this manager has ${mib(bytes)} for bodies: send it in parts`;

/** The room is given back when `handle` resolves or rejects, even if the client has left: until then the body is in memory. */
export async function handlingBody(response: Response, handle: () => Promise<void>): Promise<void> {
  const taken = takenFor(response);
  if (taken.length === 0) return handle();
  for (const giveBack of taken) response.off("close", giveBack);
  await handle().finally(() => {
    for (const giveBack of taken) giveBack();
  });
}

/** The rooms that a request has. */
const takenFor = ({ locals }: Response): GiveBack[] => (locals["bodyRooms"] as GiveBack[] | undefined) ?? [];

async function takeRoom(room: BodyRoom, bytes: number, response: Response, next: () => void): Promise<void> {
  const giveBack = await room.take(bytes, untilGone(response));
  if (giveBack === undefined) throw new HttpProblem(NO_ROOM);
  if (response.destroyed) return giveBack();
  response.locals["bodyRooms"] = [...takenFor(response), giveBack];
  response.once("close", giveBack);
  next();
}
