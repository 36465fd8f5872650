import type { z } from "zod";
import { ACCESS_CALLS } from "./access-calls.ts";
import { BALANCE_CALLS } from "./balance-calls.ts";
import type { Call } from "./call.ts";
import type { CallName, PathParameter } from "./call-places.ts";
import { ERROR_CALLS } from "./error-calls.ts";
import { FLOW_CALLS } from "./flow-calls.ts";
import { OBSERVER_CALLS } from "./observer-calls.ts";
import { OVERVIEW_CALLS } from "./overview-calls.ts";
import { SCHEDULE_CALLS } from "./schedule-calls.ts";
import { SERVICE_CALLS } from "./service-calls.ts";
import { TASK_CALLS } from "./task-calls.ts";
import { TIMER_CALLS } from "./timer-calls.ts";
import { WORK_CALLS } from "./work-calls.ts";

/**
 * Every call of the REST API. The manager's routes, the OpenAPI document, and the clients of command line and page are made
 * from this table, and typed by it.
 */
export const CALLS = {
  ...ACCESS_CALLS,
  ...OBSERVER_CALLS,
  ...TASK_CALLS,
  ...FLOW_CALLS,
  ...TIMER_CALLS,
  ...SCHEDULE_CALLS,
  ...WORK_CALLS,
  ...SERVICE_CALLS,
  ...BALANCE_CALLS,
  ...ERROR_CALLS,
  ...OVERVIEW_CALLS,
} as const satisfies Record<CallName, Call>;

type Calls = typeof CALLS;
type Good = 200 | 201 | 202 | 204;
type Shown<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** The answer of a call that was done; undefined without a body. */
export type AnswerOf<Name extends CallName> = {
  [Status in keyof Calls[Name]["answers"]]: Status extends Good ? Shown<Calls[Name]["answers"][Status]> : never;
}[keyof Calls[Name]["answers"]];

/** The calls on many that can answer only with receipts. */
export type MinimalCallName = {
  [Name in CallName]: Calls[Name] extends { minimal: object } ? Name : never;
}[CallName];

/** The receipts that such a call answers. */
export type MinimalOf<Name extends MinimalCallName> = Calls[Name] extends { minimal: { 200: infer Schema } }
  ? Shown<Schema>
  : never;

/** The query as a client gives it. What is left out has its default. */
export type QueryOf<Name extends CallName> = Calls[Name] extends { query: infer Query extends z.ZodType }
  ? Partial<z.output<Query>>
  : object;

export type BodyOf<Name extends CallName> = Calls[Name] extends { body: infer Body extends z.ZodType }
  ? z.input<Body>
  : undefined;

/** Everything that a client gives with a call. */
export type CallInput<Name extends CallName> = ([PathParameter<Name>] extends [never]
  ? { path?: undefined }
  : { path: Record<PathParameter<Name>, string> }) & { query?: QueryOf<Name> } & (BodyOf<Name> extends undefined
    ? { body?: undefined }
    : { body: BodyOf<Name> }) &
  (Calls[Name] extends { headers: z.ZodObject<{ "If-Match": z.ZodType }> } ? { ifMatch?: string | undefined } : object);

/** The lists that come in pages and need no path parameter. */
export type PagedCallName = {
  [Name in CallName]: AnswerOf<Name> extends { items: unknown[]; nextCursor: string | null }
    ? [PathParameter<Name>] extends [never]
      ? Name
      : never
    : never;
}[CallName];

/** A row of such a list. */
export type ItemOf<Name extends PagedCallName> = AnswerOf<Name> extends { items: (infer Item)[] } ? Item : never;
