import type { RequestHandler } from "express";
import { statusOf } from "./request-context.ts";

export interface RequestMeter {
  /** @param request without a status: the client left before any of the answer */
  answered(request: { method: string; route: string | undefined; status: number | undefined; durationMs: number }): void;
}

/** Measures every answer. The route is the one that express matched, never the path itself, which clients choose. */
export const requestMetrics =
  (meter: RequestMeter): RequestHandler =>
  (request, response, next) => {
    const beganAtMs = performance.now();
    response.once("close", () => {
      const route = (request.route as { path?: unknown } | undefined)?.path;
      // A stream lasts as long as its client likes, which says nothing about how fast we answer.
      if (String(response.getHeader("content-type")).startsWith("text/event-stream")) return;
      meter.answered({
        method: request.method,
        route: typeof route === "string" ? route.replaceAll(/:(\w+)/g, "{$1}") : undefined,
        status: statusOf(response),
        durationMs: performance.now() - beganAtMs,
      });
    });
    next();
  };
