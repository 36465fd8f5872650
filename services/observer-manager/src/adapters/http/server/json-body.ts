import { Readable } from "node:stream";
import type { Response } from "express";
import express, { type RequestHandler } from "express";
import { HttpProblem } from "../api/http-problem.ts";

/** Reads a JSON body into `request.body`: any JSON value, as what it must be is for the schema to say. */
export const jsonBody = (limit: number): RequestHandler =>
  express.json({ limit, type: "application/json", strict: false, inflate: false, verify: requireContent });

/** An empty body would be taken for `{}`. */
function requireContent(_request: unknown, _response: unknown, body: Buffer): void {
  if (body.length === 0) throw new HttpProblem({ code: "malformed-json", detail: "The body is empty" });
}

/** Without a body there is no type to be wrong: that is answered later, as an empty body. */
export const requireJson: RequestHandler = (request, _response, next) => {
  if (request.is("application/json") === false) throw new HttpProblem({ code: "unsupported-media-type" });
  next();
};

/** Ended by a newline, as in a terminal the prompt would stand behind it. */
export const jsonText = (body: unknown): string => `${JSON.stringify(body)}\n`;

/**
 * Every JSON that is answered goes out here, or by `sendBytes`. Not by express's `send`: that answers `If-None-Match` by 304, and the ETag of an
 * observer is of what is wanted of it alone, however else it has changed.
 */
export function sendJson(response: Response, status: number, body: unknown, type?: string): void {
  const text = jsonText(body);
  if (text.length > PART_BYTES) return sendBytes(response, status, Buffer.from(text), type);
  sayLength(response, status, Buffer.byteLength(text), type).end(text); // in one piece with the head, which bytes would not be
}

const PART_BYTES = 65_536;

/**
 * As fast as it is read, part by part: TLS would encrypt, and keep, all that it is given, and tell of no movement until the last byte of it is
 * read, so that a slow reader would be taken for one who has stopped (`stalledMs`).
 */
export function sendBytes(response: Response, status: number, bytes: Buffer, type?: string): void {
  Readable.from(partsOf(bytes)).pipe(sayLength(response, status, bytes.length, type));
}

const sayLength = (response: Response, status: number, bytes: number, type = "application/json"): Response =>
  response.status(status).set({ "Content-Type": `${type}; charset=utf-8`, "Content-Length": String(bytes) });

function* partsOf(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
}
