import {
  CALLS,
  type CallName,
  type FlowId,
  type PathParameter,
  type Role,
  type TaskId,
  type TimerId,
  type WorkId,
} from "@unacked/contracts";
import type { z } from "zod";
import type { Actor } from "../../../domain/access/identity.ts";
import type { ObserverRef } from "../../../operations/observers/observer-tools.ts";
import type { Refusal } from "../../../operations/refusal.ts";
import type { ServiceRef } from "../../../operations/services/service-desk.ts";
import { type CallDescription, describeCall, type Told } from "../openapi/call-description.ts";

export interface Answer {
  status: number;
  /** Absent if the description of the answer has no schema. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Server-sent events instead of an answer. They end when the signal aborts, as the client has gone. */
export interface EventsAnswer {
  events(signal: AbortSignal): AsyncIterable<{ name: string; data: unknown; id?: string | undefined }>;
}

/** The parameters of a path. A text that cannot be one has been answered 404 before. */
export interface PathValues {
  ref: ObserverRef;
  service: ServiceRef;
  errorId: string;
  taskId: TaskId;
  taskType: string;
  pool: string;
  timerId: TimerId;
  scheduleId: string;
  flowId: FlowId;
  workId: WorkId;
}

/** The input of every route. */
interface Asked {
  /** The id of the last event that a client has seen, to go on with the stream from there. */
  lastEventId: string | undefined;
  /** The tag of the state that a client has seen, and means to change. */
  ifMatch: string | undefined;
  /** Whether only receipts are asked for; never true for a call that has none. */
  prefersMinimal: boolean;
  requestId: string;
  /** Who asks. In a call that is open to all: nobody in particular. */
  by: Actor;
  /** Aborts when the client leaves before it was answered. */
  untilGone(): AbortSignal;
  /** Whether the caller still has the right when the answer is ready. */
  isStillWelcome(): Promise<boolean>;
  /** Whether the request came over TLS, as far as the trusted proxies say. */
  isSecure: boolean;
  /** The path below which this manager is, such as `/unacked`; "" means the root. The `Location` of an answer is put below it. */
  basePath: string;
}

export interface RouteRequest extends PathValues, Asked {
  query: unknown;
  body: unknown;
}

/**
 * One call of the REST API. The contracts (CALLS) say what it takes and answers. Together with this description it makes the
 * express route, the checks of what comes in, the shape of what goes out and its part of the OpenAPI document, so that these
 * cannot differ.
 */
export interface Route extends CallDescription {
  /** Replaces `body`'s own parsing, for a body whose items are checked one by one. */
  readBody?: ((given: unknown) => unknown) | undefined;
  handle(request: RouteRequest): Promise<Answer | EventsAnswer | Refusal>;
}

type Calls = typeof CALLS;
type Read<Part> = Part extends z.ZodType ? z.output<Part> : undefined;
type Given<Name extends CallName> = Calls[Name] extends { query: infer Query } ? Read<Query> : object;
type Taken<Name extends CallName> = Calls[Name] extends { body: infer Body } ? Read<Body> : undefined;
type Written<Schema> = Schema extends z.ZodType ? { body: z.input<Schema> } : { body?: undefined };

/** The answers of each call, in the shape of the contracts. */
type Answers = {
  [Name in CallName]:
    | Shaped<Calls[Name]["answers"]>
    | (Calls[Name] extends { minimal: infer Minimal } ? Shaped<Minimal> : never);
};
type Shaped<Schemas> = {
  [Status in keyof Schemas]: { status: Status; headers?: Record<string, string> } & Written<Schemas[Status]>;
}[keyof Schemas];

type RequestOf<Name extends CallName, Body> = Pick<PathValues, PathParameter<Name>> &
  Asked & { query: Given<Name>; body: Body };

interface Done<Name extends CallName, Body> {
  handle(request: RequestOf<Name, Body>): Promise<Answers[Name] | EventsAnswer | Refusal>;
}

/**
 * Ties what is told and done of a call to the contracts, in two steps: only then are the answers held to the contracts' own.
 * @param readBody instead of the schema's own parsing
 */
export const defineRoute =
  <Name extends CallName, Body = Taken<Name>>(name: Name, readBody?: (given: unknown) => Body) =>
  ({ handle, ...told }: Told<Name> & Done<Name, Body>): Route => ({
    ...describeCall(name, told as unknown as Told<Name>),
    readBody,
    handle: handle as Route["handle"],
  });

/** The needed roles by operationId, for calls that need one. The stream of changes is not such a route (server/change-events.ts). */
export const neededRoles = (routes: readonly Route[]): Record<string, Role> =>
  Object.fromEntries(
    routes.flatMap(({ operationId, access }) => (access === "open" ? [] : [[operationId, access] as const])),
  );
