import type { ProblemCode } from "@unacked/contracts";
import type { z } from "zod";
import type { Actor } from "../../domain/actor.ts";
import type { ObserverRef, Refusal, ServiceRef } from "../../flows/manager-api.ts";
import type { CallDescription, Examples } from "./call-description.ts";

export interface Answer {
  status: number;
  /** Absent where the description of the answer has no schema. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Server-sent events instead of an answer, until the signal aborts as the client has gone. */
export interface EventsAnswer {
  events(signal: AbortSignal): AsyncIterable<{ name: string; data: unknown; id?: string | undefined }>;
}

export interface RouteRequest<Query, Body> {
  /** The `{ref}` of the path; a text that can be neither name nor id has been answered 404 before. */
  ref: ObserverRef;
  /** The `{errorId}` of the path. */
  errorId: string;
  /** The `{service}` of the path; as with `ref`. */
  service: ServiceRef;
  /** The header that a client sends to go on with a stream where it was. */
  lastEventId: string | undefined;
  query: Query;
  body: Body;
  requestId: string;
  /** Who asks. Of a call that is open to all: nobody in particular. */
  by: Actor;
  /** Whether it came over TLS, as far as the proxies that are trusted say. */
  isSecure: boolean;
}

/**
 * One call of the REST API. The same description makes the express route, the checks of what comes in, the shape of what goes out and
 * its part of the OpenAPI document, so none of them can differ from the others.
 */
export interface Route extends CallDescription {
  /** Default MAX_REQUEST_BODY_BYTES. */
  bodyLimitBytes?: number;
  /** Instead of `body`'s own parsing, for a body whose items are checked each for itself. */
  readBody?(given: unknown): unknown;
  handle(request: RouteRequest<never, never>): Promise<Answer | EventsAnswer | Refusal>;
}

/** Ties the types of query, body and the body's examples to their schemas. */
export function defineRoute<
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Read = z.output<Body>,
>(
  route: Omit<Route, "query" | "body" | "bodyExamples" | "readBody" | "handle"> & {
    query?: Query;
    body?: Body;
    bodyExamples?: Examples<z.input<Body>>;
    readBody?: (given: unknown) => Read;
    handle(request: RouteRequest<z.output<Query>, Read>): Promise<Answer | EventsAnswer | Refusal>;
  },
): Route {
  return route;
}

/** Problems that any call can meet. */
export const COMMON_PROBLEMS: ProblemCode[] = [
  ...(["malformed-request", "invalid-query", "wrong-host", "internal-error", "database-unavailable"] as const),
];

/** Problems of every call that takes a body. */
export const BODY_PROBLEMS: ProblemCode[] = [
  ...(["malformed-json", "body-too-large", "unsupported-media-type", "invalid-body"] as const),
];
