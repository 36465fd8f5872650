import { Readable } from "node:stream";
import type { Response } from "express";
import express, { type RequestHandler } from "express";
import { HttpProblem } from "../api/http-problem.ts";

/** Reads a JSON body into `request.body`. Any JSON value is accepted, as the schema checks it. */
export const jsonBody = (limit: number): RequestHandler =>
  express.json({ limit, type: "application/json", strict: false, inflate: false, verify: requireContent });

/** Refuses an empty body, which would be taken for `{}`. */
function requireContent(_request: unknown, _response: unknown, body: Buffer): void {
  if (body.length === 0) throw new HttpProblem({ code: "malformed-json", detail: "The body is empty" });
}

/** Without a body there is no wrong type: the request is refused later, for its empty body. */
export const requireJson: RequestHandler = (request, _response, next) => {
  if (request.is("application/json") === false) throw new HttpProblem({ code: "unsupported-media-type" });
  next();
};

/** Ends with a newline, as in a terminal the prompt would otherwise stand behind it. */
export const jsonText = (body: unknown): string => `${JSON.stringify(body)}\n`;

/**
 * Every JSON answer goes out here, or by `sendBytes`. Not by express's `send`, which answers `If-None-Match` by 304: an observer's ETag
 * covers only its spec, however else it has changed.
 */
export function sendJson(response: Response, status: number, body: unknown, type?: string): void {
  const text = jsonText(body);
  if (text.length > PART_BYTES) return sendBytes(response, status, Buffer.from(text), type);
  sayLength(response, status, Buffer.byteLength(text), type).end(text); // written in one piece with the head, unlike bytes
}

const PART_BYTES = 65_536;

/**
 * Writes part by part, as fast as it is read. TLS would encrypt, and keep, all that it is given, and show no movement until its last byte
 * is read, so that a slow reader would look like one who has stopped (`stalledMs`).
 */
export function sendBytes(response: Response, status: number, bytes: Buffer, type?: string): void {
  Readable.from(partsOf(bytes)).pipe(sayLength(response, status, bytes.length, type));
}

const sayLength = (response: Response, status: number, bytes: number, type = "application/json"): Response =>
  response.status(status).set({ "Content-Type": `${type}; charset=utf-8`, "Content-Length": String(bytes) });

function* partsOf(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
}
