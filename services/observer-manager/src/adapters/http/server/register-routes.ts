import { type Access, MAX_REQUEST_BODY_BYTES, type Role } from "@unacked/contracts";
import type { IRouter, Request, RequestHandler, Response } from "express";
import type { Actor } from "../../../domain/access/identity.ts";
import type { Log } from "../../../operations/log.ts";
import { refusedOne } from "../../../operations/problem-details.ts";
import type { Refusal } from "../../../operations/refusal.ts";
import { HttpProblem } from "../api/http-problem.ts";
import { readInput } from "../api/request-input.ts";
import type { EventsAnswer, Route } from "../api/route.ts";
import type { BodyRooms } from "./body-room.ts";
import { callerOf } from "./caller.ts";
import { fitting, type LeftOut } from "./fitting-rows.ts";
import type { Gate } from "./gate.ts";
import { bodyBytes, parseBody, requireJson, sendJson } from "./json-body.ts";
import { handlingBody, roomForBody, roomForValues } from "./long-bodies.ts";
import { sendProblem } from "./problem-of-error.ts";
import { requestIdOf, spanOf } from "./request-context.ts";
import { seenBy } from "./seen-by.ts";
import { sendEventStream } from "./server-sent-events.ts";
import { untilGone } from "./until-gone.ts";

/** The header that says how many rows of a list cannot be shown, if there are any. */
const LEFT_OUT_HEADER = "Unacked-Left-Out";
const MAX_TOLD = 10;
/** Stands for one result of many. It does not say whether that was done. */
const UNSHOWABLE: Refusal = { kind: "problem", code: "internal-error", detail: "The result cannot be shown" };

/** A path with its handlers by method. */
export interface RegisteredPath {
  /** The path as express writes it: `/api/v1/observers/:ref`. */
  path: string;
  /** Who may call it: the lowest role, or `open` for everybody. */
  access: Access;
  handlers: Partial<Record<Route["method"], RequestHandler[]>>;
}

/**
 * A word of the API (`/observers/stop`) can also be somebody's name there (`/observers/{ref}`): the word's own methods come
 * first, the others belong to the name. Hence all methods are registered before any path refuses those that it lacks.
 */
export function registerRoutes(router: IRouter, gate: Gate, routes: Route[], log: Log, rooms: BodyRooms): void {
  const paths = [...new Set(routes.map((route) => route.path))].toSorted(
    (a, b) => countOfParameters(a) - countOfParameters(b),
  );
  for (const path of paths)
    for (const route of routes.filter((one) => one.path === path))
      router[route.method](expressPathOf(path), ...gate.guard(route.access), ...handlersOf(route, log, rooms));
  for (const path of paths) refuseOtherMethods(router, expressPathOf(path), methodsAt(path, routes));
}

export function registerPath(router: IRouter, gate: Gate, { path, access, handlers }: RegisteredPath): void {
  const methods = Object.keys(handlers) as Route["method"][];
  for (const method of methods) router[method](path, ...gate.guard(access), ...(handlers[method] ?? []));
  refuseOtherMethods(router, path, methods);
}

const countOfParameters = (path: string): number => path.split("{").length;
const expressPathOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** The methods of every path that matches this one. */
function methodsAt(path: string, routes: Route[]): Route["method"][] {
  const fits = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path);
  return [...new Set(routes.filter((route) => fits(route.path)).map((route) => route.method))];
}

/** Any other method is answered 405 with Allow; OPTIONS with Allow alone. */
function refuseOtherMethods(router: IRouter, path: string, methods: Route["method"][]): void {
  const allow = methods.flatMap((method) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()])).join(", ");
  router.all(path, (request, response) => {
    response.setHeader("Allow", allow);
    if (request.method === "OPTIONS") response.status(204).end();
    else throw new HttpProblem({ code: "method-not-allowed", detail: `${request.method} is not one of ${allow}` });
  });
}

function handlersOf(route: Route, log: Log, rooms: BodyRooms): RequestHandler[] {
  const answer = (request: Request, response: Response) => answerRoute(route, log, request, response);
  if (route.body === undefined) return [answer];
  const limit = route.bodyLimitBytes ?? MAX_REQUEST_BODY_BYTES;
  const answerBody: RequestHandler = (request, response) => handlingBody(response, () => answer(request, response));
  const read = [requireJson, roomForBody(limit, rooms.unread), bodyBytes(limit)];
  return [...read, roomForValues(rooms.parsed), parseBody, answerBody];
}

/**
 * The schema of the OpenAPI document shapes what goes out, as the caller's role may see it: extra fields stay here, missing ones
 * are our error. But a wrong row is left out of its list, or replaced by a problem, and that is reported.
 */
async function answerRoute(route: Route, log: Log, request: Request, response: Response): Promise<void> {
  const requestId = requestIdOf(response);
  const traceContext = spanOf(response)?.context;
  const { identity, isStillWelcome } = callerOf(response);
  const by: Actor = { address: request.ip ?? "", requestId, traceContext, ...identity };
  const input = {
    requestId,
    by,
    isSecure: request.secure,
    basePath: request.baseUrl,
    untilGone: () => untilGone(response),
    isStillWelcome,
    ...readInput(route, request),
  };
  const outcome = await route.handle(input);
  response.setHeader("Cache-Control", "no-store");
  if ("kind" in outcome) return sendProblem(response, outcome, requestIdOf(response));
  if ("events" in outcome)
    return sendEventStream(request, response, (signal) => seenEvents(route, by.role, outcome.events(signal)));
  const described = route.answers[outcome.status];
  if (described === undefined)
    throw new Error(`${route.operationId} answers ${outcome.status}, which its description does not know`);
  const schema = input.prefersMinimal ? described.minimal : described.schema;
  const unshowable = () => refusedOne(UNSHOWABLE, requestId);
  const { body, leftOut = [], replaced = [] } = schema ? fitting(seenBy(by.role, schema), outcome.body, unshowable) : {};
  const tell = (rows: LeftOut[], text: string) =>
    log.error({ requestId, operation: route.operationId, rows: rows.slice(0, MAX_TOLD) }, text);
  if (leftOut.length > 0) {
    tell(leftOut, "Rows cannot be shown, and are left out");
    response.setHeader(LEFT_OUT_HEADER, String(leftOut.length));
  }
  if (replaced.length > 0) tell(replaced, "Rows cannot be shown, and a problem is in their place");
  if (input.prefersMinimal) response.setHeader("Preference-Applied", "return=minimal");
  for (const [name, value] of Object.entries(outcome.headers ?? {}))
    response.setHeader(name, name === "Location" ? `${request.baseUrl}${value}` : value);
  if (schema) sendJson(response, outcome.status, body);
  else response.status(outcome.status).end();
}

async function* seenEvents({ events = {}, operationId }: Route, role: Role, sent: ReturnType<EventsAnswer["events"]>) {
  for await (const event of sent) {
    const schema = events[event.name];
    if (schema === undefined) throw new Error(`${operationId} sends ${event.name}, which its description does not know`);
    yield { ...event, data: seenBy(role, schema).parse(event.data) };
  }
}
