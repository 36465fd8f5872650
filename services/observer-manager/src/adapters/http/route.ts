import type { ProblemCode } from "@unacked/contracts";
import type { z } from "zod";
import type { ObserverRef, Refusal } from "../../flows/manager-api.ts";

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export interface RouteRequest<Query, Body> {
  /** The `{ref}` of the path; a text that can be neither name nor id has been answered 404 before. */
  ref: ObserverRef;
  query: Query;
  body: Body;
}

/**
 * One call of the REST API. The same description makes the express route, the checks of what comes in, the shape of what goes out and
 * its part of the OpenAPI document, so none of them can differ from the others.
 */
export interface Route {
  method: "get" | "post" | "delete";
  /** As in OpenAPI: `/api/v1/observers/{ref}`. */
  path: string;
  operationId: string;
  summary: string;
  query?: z.ZodObject;
  body?: z.ZodType;
  answers: Record<number, { description: string; schema: z.ZodType }>;
  /** Beside those that every route can answer with. */
  problems: ProblemCode[];
  handle(request: RouteRequest<never, never>): Promise<Answer | Refusal>;
}

/** Ties the types of query and body to their schemas. */
export function defineRoute<Query extends z.ZodObject = z.ZodObject, Body extends z.ZodType = z.ZodType>(
  route: Omit<Route, "query" | "body" | "handle"> & {
    query?: Query;
    body?: Body;
    handle(request: RouteRequest<z.output<Query>, z.output<Body>>): Promise<Answer | Refusal>;
  },
): Route {
  return route;
}

/** Problems that any call can meet. */
export const COMMON_PROBLEMS: ProblemCode[] = [
  ...(["malformed-request", "invalid-query", "method-not-allowed", "internal-error", "database-unavailable"] as const),
];

/** Problems of every call that takes a body. */
export const BODY_PROBLEMS: ProblemCode[] = [
  ...(["malformed-json", "body-too-large", "unsupported-media-type", "invalid-body"] as const),
];
