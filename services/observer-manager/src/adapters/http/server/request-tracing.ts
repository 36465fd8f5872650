import { type Span, type Tracing, traceContextOf } from "@unacked/tracing";
import type { Request, RequestHandler, Response } from "express";
import { requestIdOf, setSpan, statusOf } from "./request-context.ts";

/** The methods that are named; others could be anything, without end. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * A span for each call, in the caller's trace if they name one. Its name is the route, never the path, which clients choose.
 * The query and the body are not in it. A stream of events has no span, as it lasts as long as its client likes.
 */
export const requestTracing =
  (tracing: Tracing): RequestHandler =>
  (request, response, next) => {
    const method = METHODS.has(request.method) ? request.method : "_OTHER";
    const span = tracing.start({
      name: method === "_OTHER" ? "HTTP" : method,
      kind: "server",
      parent: traceContextOf(request.headers),
      attributes: {
        "http.request.method": method,
        "url.scheme": request.protocol,
        "url.path": pathOf(request),
      },
    });
    setSpan(response, span);
    response.once("close", () => {
      if (!String(response.getHeader("content-type")).startsWith("text/event-stream"))
        endSpan(span, method, request, response);
    });
    next();
  };

function endSpan(span: Span, method: string, request: Request, response: Response): void {
  const route = routeOf(request);
  const status = statusOf(response);
  if (route !== undefined) span.rename(`${method} ${route}`);
  span.describe({
    "http.route": route,
    "http.response.status_code": status,
    "unacked.request.id": requestIdOf(response),
  });
  if (!response.writableFinished) span.end("client-left");
  else span.end(status !== undefined && status >= 500 ? String(status) : undefined);
}

const MAX_PATH_LENGTH = 200;

const pathOf = ({ originalUrl }: Request): string => (originalUrl.split("?")[0] ?? "").slice(0, MAX_PATH_LENGTH);

/** The route as the OpenAPI document writes it. Undefined if none matches. */
function routeOf(request: Request): string | undefined {
  const path = (request.route as { path?: unknown } | undefined)?.path;
  return typeof path === "string" ? path.replaceAll(/:(\w+)/g, "{$1}") : undefined;
}
