import type { operations } from "./api.d.ts";

/** What a client of the API writes who has generated its types with openapi-typescript, as it comes. Compiled by a test. */

type Body<Id extends keyof operations> = operations[Id] extends {
  requestBody: { content: { "application/json": infer Sent } };
}
  ? Sent
  : never;

type Answer<Id extends keyof operations, Status extends number> = operations[Id] extends {
  responses: { [status in Status]: { content: { "application/json": infer Given } } };
}
  ? Given
  : never;

const little: Body<"createObserver"> = { name: "heartbeat", type: "ticker" };
const withParams: Body<"createObserver"> = { name: "heartbeat", type: "ticker", params: { everyMs: 1_000 } };
const withRetry: Body<"createObserver"> = { ...little, retry: { delaysMs: { initialMs: 500 } } };
const many: Body<"createObservers"> = { observers: [little, withParams, withRetry] };
const stop: Body<"stopObservers"> = { names: ["heartbeat"] };
const restart: Body<"restartObservers"> = { filter: { labels: { team: "web" } } };

/** What has a default in a body is there in every answer. */
export function factsOf(observer: Answer<"getObserver", 200>): string[] {
  const { pool, labels, retry, lastError } = observer;
  return [pool, ...Object.keys(labels), retry.resetAfterMs.toFixed(), lastError?.stack ?? ""];
}

export const BODIES = [little, withParams, withRetry, many, stop, restart];

// @ts-expect-error A body without a type is none.
export const WRONG: Body<"createObserver"> = { name: "heartbeat" };
