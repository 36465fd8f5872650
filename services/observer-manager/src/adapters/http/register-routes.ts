import type { Express, Request, RequestHandler, Response } from "express";
import { HttpProblem, sendProblem } from "./http-problem.ts";
import { jsonBody } from "./json-body.ts";
import { requestIdOf } from "./request-context.ts";
import { readInput } from "./request-input.ts";
import type { Route } from "./route.ts";

/** A path and what it answers by method. */
export interface RegisteredPath {
  /** As express writes it: `/api/v1/observers/:ref`. */
  path: string;
  handlers: Partial<Record<Route["method"], RequestHandler[]>>;
}

export function registerRoutes(app: Express, routes: Route[]): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const handlers: RegisteredPath["handlers"] = {};
    for (const route of routes.filter((one) => one.path === path)) handlers[route.method] = handlersOf(route);
    registerPath(app, { path: path.replaceAll(/\{(\w+)\}/g, ":$1"), handlers });
  }
}

/** Any other method is answered 405 with Allow; OPTIONS with Allow alone. */
export function registerPath(app: Express, { path, handlers }: RegisteredPath): void {
  const methods = Object.keys(handlers) as Route["method"][];
  for (const method of methods) app[method](path, ...(handlers[method] ?? []));
  const allow = methods.flatMap((method) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()])).join(", ");
  app.all(path, (request, response) => {
    response.setHeader("Allow", allow);
    if (request.method === "OPTIONS") response.status(204).end();
    else throw new HttpProblem({ code: "method-not-allowed", detail: `${request.method} is not one of ${allow}` });
  });
}

function handlersOf(route: Route): RequestHandler[] {
  const answer = (request: Request, response: Response) => answerRoute(route, request, response);
  return [...(route.body === undefined ? [] : jsonBody()), answer];
}

/** What goes out is shaped by the schema in the OpenAPI document: what is not in it stays here, what is missing is our error. */
async function answerRoute(route: Route, request: Request, response: Response): Promise<void> {
  const outcome = await route.handle(readInput(route, request) as Parameters<Route["handle"]>[0]);
  response.setHeader("Cache-Control", "no-store");
  if ("kind" in outcome) return sendProblem(response, outcome, requestIdOf(response));
  const schema = route.answers[outcome.status]?.schema;
  if (schema === undefined)
    throw new Error(`${route.operationId} answers ${outcome.status}, which its description does not know`);
  const body = schema.parse(outcome.body);
  for (const [name, value] of Object.entries(outcome.headers ?? {})) response.setHeader(name, value);
  response.status(outcome.status).json(body);
}
