import type { Response } from "express";
import express, { type RequestHandler } from "express";
import { HttpProblem } from "../api/http-problem.ts";

/** Reads a JSON body into `request.body`: any JSON value, as what it must be is for the schema to say. */
export function jsonBody(limit: number): RequestHandler[] {
  return [
    requireJson,
    express.json({ limit, type: "application/json", strict: false, inflate: false, verify: requireContent }),
  ];
}

/** An empty body would be taken for `{}`. */
function requireContent(_request: unknown, _response: unknown, body: Buffer): void {
  if (body.length === 0) throw new HttpProblem({ code: "malformed-json", detail: "The body is empty" });
}

/** Without a body there is no type to be wrong: that is answered later, as an empty body. */
const requireJson: RequestHandler = (request, _response, next) => {
  if (request.is("application/json") === false) throw new HttpProblem({ code: "unsupported-media-type" });
  next();
};

/** Ended by a newline, as in a terminal the prompt would stand behind it. */
export const jsonText = (body: unknown): string => `${JSON.stringify(body)}\n`;

export const sendJson = (response: Response, status: number, body: unknown, type?: string): void =>
  sendText(response, status, jsonText(body), type);

/**
 * Every JSON that is answered goes out here. Not by express's `send`: that answers `If-None-Match` by 304, and the ETag of an observer is of what
 * is wanted of it alone, however else it has changed.
 */
export function sendText(response: Response, status: number, text: string, type = "application/json"): void {
  response
    .status(status)
    .set({ "Content-Type": `${type}; charset=utf-8`, "Content-Length": String(Buffer.byteLength(text)) })
    .end(text);
}
