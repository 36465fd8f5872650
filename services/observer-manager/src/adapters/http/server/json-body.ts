import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import { PROBLEMS } from "@unacked/contracts";
import type { Response } from "express";
import express, { type RequestHandler } from "express";
import { jsonMistake } from "../../../domain/json-mistake.ts";
import { HttpProblem } from "../api/http-problem.ts";

const TYPE = "application/json";
/** JSON between programs is UTF-8 (RFC 8259, 8.1). */
const OTHER_CHARSET = /;\s*charset=(?!"?utf-8\b)/i;

/** Without a body there is no wrong type: the request is refused later, for its empty body. */
export const requireJson: RequestHandler = (request, _response, next) => {
  if (request.is(TYPE) === false || OTHER_CHARSET.test(request.headers["content-type"] ?? ""))
    throw new HttpProblem({ code: "unsupported-media-type" });
  next();
};

/** Reads the bytes of a body into `request.body`. */
export const bodyBytes = (limit: number): RequestHandler => express.raw({ limit, type: TYPE, inflate: false });

/** Makes a JSON value of the bytes in `request.body`. Any value is accepted, as the schema checks it. Without a body there is none. */
export const parseBody: RequestHandler = (request, _response, next) => {
  if (Buffer.isBuffer(request.body)) request.body = parsed(request.body);
  next();
};

/** Other bytes than UTF-8 are refused, and not replaced: nobody asked for a name with a hole in it. TextDecoder leaves out a byte order mark. */
function parsed(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new HttpProblem({ code: "malformed-json", detail: "The body is empty" });
  if (!isUtf8(bytes))
    throw new HttpProblem({ code: "malformed-json", detail: "The body is not UTF-8, as JSON has to be (RFC 8259, 8.1)" });
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpProblem({ code: "malformed-json", detail: jsonMistake(text) ?? PROBLEMS["malformed-json"].title });
  }
}

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
