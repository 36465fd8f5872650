import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from "@asteasolutions/zod-to-openapi";
import { PROBLEMS, type ProblemCode, ProblemDetails, Readiness } from "@unacked/contracts";
import { z } from "zod";
import { EventQuery } from "./event-query.ts";
import { COMMON_PROBLEMS, type Route } from "./route.ts";

/** The OpenAPI 3.1 document, made from the very schemas that requests and answers go through. */
export function openApiDocument(routes: Route[], version: string): object {
  const registry = new OpenAPIRegistry();
  for (const route of routes) registry.registerPath(toRouteConfig(route));
  registry.registerPath(EVENTS);
  registry.registerPath(HEALTH);
  registry.registerPath(READINESS);
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Unacked",
      version,
      description: "Observers: jobs without an end. Every failure is a problem (RFC 9457) with a stable `code`.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
  });
}

function toRouteConfig(route: Route): RouteConfig {
  const { method, path, operationId, summary } = route;
  return {
    ...{ method, path, operationId, summary },
    request: {
      ...paramsOf(path),
      ...(route.query && { query: route.query }),
      ...(route.body && {
        body: { required: true, content: { "application/json": { schema: route.body, example: route.bodyExample } } },
      }),
    },
    responses: { ...answersOf(route), ...problemsOf([...COMMON_PROBLEMS, ...route.problems]) },
  };
}

const PATH_PARAMETERS: Record<string, z.ZodType> = {
  ref: z.string().describe("name or id"),
  service: z.string().describe("name or id of a service"),
  errorId: z.string().regex(/^[0-9]{1,18}$/),
};

function paramsOf(path: string): { params?: z.ZodObject } {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  if (names.length === 0) return {};
  return { params: z.object(Object.fromEntries(names.map((name) => [name, PATH_PARAMETERS[name] ?? z.string()]))) };
}

function answersOf(route: Route): RouteConfig["responses"] {
  const answers = Object.entries(route.answers).map(([status, { description, schema }]) => {
    const location = status === "201" ? { headers: z.object({ Location: z.string() }) } : {};
    const told =
      status === "200" && route.itemProblems ? `${description}. One can have ${inWords(route.itemProblems)}` : description;
    const content = {
      ...(schema && { "application/json": { schema } }),
      ...(status === "200" && route.events && { "text/event-stream": { schema: z.string().describe(route.events) } }),
    };
    return [status, { description: told, ...(schema && { content }), ...location }];
  });
  return Object.fromEntries(answers);
}

function problemsOf(codes: ProblemCode[]): RouteConfig["responses"] {
  const byStatus = groupByStatus(codes);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      String(status),
      {
        description: inWords(ofStatus),
        content: { "application/problem+json": { schema: ProblemDetails } },
      },
    ]),
  );
}

const inWords = (codes: ProblemCode[]): string => codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join(" · ");

function groupByStatus(codes: ProblemCode[]): Map<number, ProblemCode[]> {
  const groups = new Map<number, ProblemCode[]>();
  for (const code of new Set(codes)) groups.set(PROBLEMS[code].status, [...(groups.get(PROBLEMS[code].status) ?? []), code]);
  return groups;
}

const EVENTS: RouteConfig = {
  ...{ method: "get", path: "/api/v1/events", operationId: "followChanges", summary: "Changes as server-sent events" },
  description:
    "`observer` and `service` carry the whole view; `ready`: live from here on; `resync`: some changes were skipped, read the lists anew. " +
    "`id` is a place that every manager understands: send it as Last-Event-ID to go on from there.",
  request: { query: EventQuery },
  responses: {
    200: { description: "The stream", content: { "text/event-stream": { schema: z.string() } } },
    ...problemsOf(["invalid-query", "method-not-allowed"]),
  },
};

const HEALTH: RouteConfig = {
  ...{ method: "get", path: "/healthz", operationId: "isAlive", summary: "The process answers" },
  responses: {
    200: { description: "Alive", content: { "application/json": { schema: z.object({ status: z.literal("ok") }) } } },
  },
};

const READINESS: RouteConfig = {
  ...{
    method: "get",
    path: "/readyz",
    operationId: "isReady",
    summary: "Database, broker and state queue are as they should be",
  },
  responses: {
    200: { description: "Ready", content: { "application/json": { schema: Readiness } } },
    503: { description: "Not ready, and why", content: { "application/json": { schema: Readiness } } },
  },
};
