import { randomUUID } from "node:crypto";
import type { Span, TraceIds } from "@unacked/tracing";
import type { RequestHandler, Response } from "express";
import type { Log } from "../../../operations/log.ts";

const MAX_LOGGED_PATH_LENGTH = 200;

/** The form of a client's own request id. Any other is replaced, as it goes into our log. */
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

export const requestIdOf = (response: Response): string => String(response.locals["requestId"] ?? "");

/** Undefined if nothing was answered, as the client has left: then Node shows its own default, 200. */
export const statusOf = (response: Response): number | undefined => (response.headersSent ? response.statusCode : undefined);

/** The span of the request that is answered. Undefined if it is not traced. */
export const spanOf = (response: Response): Span | undefined => response.locals["span"] as Span | undefined;

export const setSpan = (response: Response, span: Span): void => void (response.locals["span"] = span);

/** The trace's ids, for the lines of its log. */
export const traceIdsOf = (response: Response): TraceIds | undefined => spanOf(response)?.ids;

/** Takes or makes X-Request-Id, returns it, and logs one line when the answer is over. The query is not logged. */
export function requestContext(log: Log): RequestHandler {
  return (request, response, next) => {
    const given = request.get("x-request-id");
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
    const startedAt = performance.now();
    response.locals["requestId"] = requestId;
    response.setHeader("X-Request-Id", requestId);
    response.once("close", () => {
      const fields = {
        requestId,
        ...traceIdsOf(response),
        method: request.method,
        path: `${request.baseUrl}${request.path}`.slice(0, MAX_LOGGED_PATH_LENGTH),
        status: statusOf(response),
        durationMs: Math.round(performance.now() - startedAt),
      };
      const message = response.writableFinished ? "Answered" : "The client left before the answer was complete";
      log[levelOf(fields)](fields, message);
    });
    next();
  };
}

const READING = new Set(["GET", "HEAD", "OPTIONS"]);
/** A 503 of these is an answer and no failure: scripts that start the manager ask many times a second until it is ready. */
const PROBES = /\/(healthz|readyz)$/;

interface Answer {
  method: string;
  path: string;
  status: number | undefined;
}

/** Pages and probes read every few seconds, so by default only changes and failures are worth a line. */
function levelOf({ method, path, status }: Answer): "debug" | "info" | "warn" {
  if (status === undefined) return "info";
  if (status >= 500) return status === 503 && PROBES.test(path) ? "debug" : "warn";
  return status < 400 && READING.has(method) ? "debug" : "info";
}
