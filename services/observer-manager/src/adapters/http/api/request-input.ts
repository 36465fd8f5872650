import {
  FlowId,
  ObserverId,
  ObserverName,
  PoolName,
  type ProblemCode,
  ScheduleId,
  ServiceId,
  ServiceName,
  TaskId,
  TimerId,
  TypeName,
  WorkId,
} from "@unacked/contracts";
import type { Request } from "express";
import type { z } from "zod";
import { NO_SUCH_PARAMETER, queryProblems } from "../../../domain/field-problems.ts";
import { jsonCheck } from "../../../domain/json-check.ts";
import type { ObserverRef } from "../../../operations/observers/observer-tools.ts";
import type { Refusal } from "../../../operations/refusal.ts";
import type { ServiceRef } from "../../../operations/services/service-desk.ts";
import { HttpProblem } from "./http-problem.ts";
import { prefersMinimal } from "./prefer.ts";
import type { Route, RouteRequest } from "./route.ts";

const NAME_RULE = "1 to 128 of A-Z a-z 0-9 . _ : -";

/** Reads and checks all input of a route. Throws HttpProblem. */
export function readInput(
  route: Route,
  request: Request,
): Omit<RouteRequest, "requestId" | "by" | "isSecure" | "basePath" | "untilGone" | "isStillWelcome"> {
  return {
    ref: pathRefOf(request.params["ref"], route),
    errorId: errorIdOf(request.params["errorId"]),
    service: serviceOf(request.params["service"]),
    taskId: taskIdOf(request.params["taskId"]),
    taskType: taskTypeOf(request.params["taskType"]),
    pool: poolOf(request.params["pool"]),
    flowId: flowIdOf(request.params["flowId"]),
    timerId: timerIdOf(request.params["timerId"], route),
    workId: workIdOf(request.params["workId"]),
    scheduleId: scheduleIdOf(request.params["scheduleId"], route),
    lastEventId: request.get("last-event-id"),
    ifMatch: readConditions(route, request),
    prefersMinimal: route.minimal !== undefined && prefersMinimal(request.get("prefer")),
    query: readQuery(route.query, request),
    body: readBody(route, request.body),
  };
}

/** Conditions under which something is to be changed (RFC 9110, 13.1): it must not be where they do not hold, so not where nobody looks, either. */
const CONDITIONS = ["If-Match", "If-None-Match", "If-Unmodified-Since"] as const;

function readConditions({ method, headers }: Route, request: Request): string | undefined {
  const known: object = headers?.shape ?? {};
  const unknown = CONDITIONS.find((name) => !(name in known) && request.get(name) !== undefined);
  if (unknown === undefined || method === "get") return request.get("if-match");
  const detail = `This call does not look at ${unknown}`;
  const remedy = "Leave that header out, or look at what is there and decide by that.";
  throw new HttpProblem({ code: "malformed-request", detail, remedy });
}

/** A route without a query takes none: a misspelt filter must not be taken for "no filter". */
function readQuery(schema: z.ZodObject | undefined, request: Request): unknown {
  const query: unknown = { ...request.query }; // as express makes it without a prototype
  if (schema === undefined) {
    const [name] = Object.keys(request.query);
    if (name === undefined) return {};
    throw new HttpProblem({ code: "invalid-query", errors: [{ parameter: name, message: NO_SUCH_PARAMETER }] });
  }
  const parsed = schema.safeParse(query);
  if (!parsed.success) throw new HttpProblem({ code: "invalid-query", errors: queryProblems(parsed.error.issues) });
  return parsed.data;
}

function readBody(route: Route, body: unknown): unknown {
  if (route.body === undefined) return undefined;
  if (body === undefined) throw new HttpProblem({ code: "malformed-json", detail: "The body is empty" });
  if (route.readBody) return route.readBody(body);
  const checked = checkJson(route.body, body, route.bodyLimitBytes);
  if (!checked.ok) throw new HttpProblem(checked.refusal);
  return checked.value;
}

/** Checks a parsed JSON value against a schema, and against what the database could not keep. */
export function checkJson<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  maxBytes?: number,
): { ok: true; value: z.output<Schema> } | { ok: false; refusal: Refusal } {
  const checked = jsonCheck(schema, value, maxBytes);
  return checked.ok ? checked : { ok: false, refusal: { kind: "problem", code: "invalid-body", errors: checked.errors } };
}

/** Routes without `{pool}` do not look at it. */
function poolOf(text: unknown): string {
  if (text === undefined) return "";
  const parsed = PoolName.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new HttpProblem({ code: "pool-not-found" });
}

/** An id is PostgreSQL's bigint, which counts up. Routes without `{errorId}` do not look at it. */
function errorIdOf(text: unknown): string {
  if (text === undefined) return "";
  if (typeof text === "string" && /^[0-9]{1,18}$/.test(text)) return text;
  throw new HttpProblem({ code: "error-not-found" });
}

/** A text that cannot be an id is not found. For a call that would create it, it is wrong. */
function cannotBe(route: Route, code: ProblemCode, detail: string): HttpProblem {
  return new HttpProblem({ code: route.problems.includes("invalid-id") ? "invalid-id" : code, detail });
}

/** A text that can be neither a name nor an id names no observer. Routes without `{ref}` do not look at it. */
function pathRefOf(text: unknown, route: Route): ObserverRef {
  if (text === undefined) return { kind: "name", name: "" };
  const ref = refOf(text);
  if (ref) return ref;
  throw cannotBe(route, "observer-not-found", `A name is ${NAME_RULE}`);
}

/** Does the same for a service. */
function serviceOf(text: unknown): ServiceRef {
  if (text === undefined) return { kind: "name", name: "" };
  const id = ServiceId.safeParse(text);
  if (id.success) return { kind: "id", id: id.data };
  const name = ServiceName.safeParse(text);
  if (name.success) return { kind: "name", name: name.data };
  throw new HttpProblem({ code: "service-not-found" });
}

/** Routes without `{taskId}` do not look at it. */
function taskIdOf(text: unknown): TaskId {
  if (text === undefined) return "" as TaskId;
  const id = TaskId.safeParse(text);
  if (id.success) return id.data;
  throw new HttpProblem({ code: "task-not-found", detail: "A task's id is a UUID" });
}

/** Routes without `{timerId}` do not look at it. */
function timerIdOf(text: unknown, route: Route): TimerId {
  if (text === undefined) return "" as TimerId;
  const id = TimerId.safeParse(text);
  if (id.success) return id.data;
  throw cannotBe(route, "timer-not-found", "A timer's id is a UUID");
}

/** Routes without `{scheduleId}` do not look at it. */
function scheduleIdOf(text: unknown, route: Route): string {
  if (text === undefined) return "";
  const id = ScheduleId.safeParse(text);
  if (id.success) return id.data;
  throw cannotBe(route, "schedule-not-found", `An id is ${NAME_RULE}`);
}

/** Routes without `{flowId}` do not look at it. */
function flowIdOf(text: unknown): FlowId {
  if (text === undefined) return "" as FlowId;
  const id = FlowId.safeParse(text);
  if (id.success) return id.data;
  throw new HttpProblem({ code: "flow-not-found", detail: "A flow's id is a UUID" });
}

/** Routes without `{workId}` do not look at it. */
function workIdOf(text: unknown): WorkId {
  if (text === undefined) return "" as WorkId;
  const id = WorkId.safeParse(text);
  if (id.success) return id.data;
  throw new HttpProblem({ code: "work-not-found", detail: "A work's id is a UUID" });
}

/** Routes without `{taskType}` do not look at it. */
function taskTypeOf(text: unknown): string {
  if (text === undefined) return "";
  const type = TypeName.safeParse(text);
  if (type.success) return type.data;
  throw new HttpProblem({ code: "task-type-not-found" });
}

/** Reads a query parameter that is a name or an id. */
export function observerParameter(text: string | undefined): ObserverRef | undefined {
  const ref = text === undefined ? undefined : refOf(text);
  if (text === undefined || ref) return ref;
  throw new HttpProblem({ code: "invalid-query", errors: [{ parameter: "observer", message: "neither a name nor an id" }] });
}

export function refOf(text: unknown): ObserverRef | undefined {
  const id = ObserverId.safeParse(text);
  if (id.success) return { kind: "id", id: id.data };
  const name = ObserverName.safeParse(text);
  return name.success ? { kind: "name", name: name.data } : undefined;
}
