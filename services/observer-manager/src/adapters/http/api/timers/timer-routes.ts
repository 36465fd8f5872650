import { type CreateTimer, PutTimer } from "@unacked/contracts";
import { decodeTimerCursor } from "../../../../operations/cursor.ts";
import type { Refusal } from "../../../../operations/refusal.ts";
import { payloadRefusal, readTimerBatch, timerBatchResults } from "../../../../operations/timers/timer-batch.ts";
import type { TimerTools } from "../../../../operations/timers/timer-tools.ts";
import {
  FIRED,
  NEW_TIMER,
  SOON_TIMER,
  TIMER_BATCH,
  TIMER_BATCH_RESULTS,
  TIMER_CANCELLED,
  TIMER_CREATED,
  TIMER_EXISTED,
  TIMER_PAGE,
  TIMER_REPLACED,
  UNHEARD,
  UNIX_TIMER,
  WAITING,
} from "../../openapi/examples/timer-examples.ts";
import { HttpProblem } from "../http-problem.ts";
import { checkJson } from "../request-input.ts";
import { defineRoute, type Route } from "../route.ts";

export const timerRoutes = (timers: TimerTools): Route[] => [
  put(timers),
  createMany(timers),
  list(timers),
  show(timers),
  cancel(timers),
];

const put = (timers: TimerTools) =>
  defineRoute(
    "putTimer",
    readTimer,
  )({
    tag: "Timers",
    summary: "Set a timer: at its time its payload is published",
    description:
      "To the topic exchange `unacked.timers`, with its name as the routing key and its id as the message id; at least once. Safe to repeat. Other content replaces it while it is Waiting.",
    bodyExamples: {
      "At a time of day": NEW_TIMER,
      "In UNIX time, of no use after two hours": UNIX_TIMER,
      "In five minutes": SOON_TIMER,
    },
    answers: {
      200: {
        description: "It was there already",
        examples: { "With the same content": TIMER_EXISTED, "With other content, which is gone": TIMER_REPLACED },
      },
      201: { description: "Accepted", examples: { "It waits": TIMER_CREATED } },
    },
    async handle({ timerId, body, by }) {
      const [outcome] = await timers.putTimers([{ id: timerId, ...body }], by);
      if (outcome === undefined) throw new Error("a timer was neither accepted nor refused");
      if (outcome.kind === "problem") return outcome;
      const { kind, timer } = outcome;
      return { status: kind === "created" ? 201 : 200, body: { ...timer, outcome: kind } };
    },
  });

const createMany = (timers: TimerTools) =>
  defineRoute(
    "createTimers",
    readTimers,
  )({
    tag: "Timers",
    summary: "Set up to 10,000 timers, each answered for itself",
    bodyExamples: { "Each for itself": TIMER_BATCH },
    answers: {
      200: {
        description: "What became of each, in the order given",
        examples: { "One accepted, one refused": TIMER_BATCH_RESULTS },
      },
    },
    async handle({ body, requestId, by }) {
      return { status: 200, body: timerBatchResults(await timers.putTimers(body, by), requestId) };
    },
  });

const list = (timers: TimerTools) =>
  defineRoute("listTimers")({
    tag: "Timers",
    summary: "List timers, the newest first",
    answers: { 200: { description: "One page", examples: { "One that waits": TIMER_PAGE } } },
    async handle({ query: { name, prefix, status: statuses, limit, cursor } }) {
      const after = cursor === undefined ? undefined : decodeTimerCursor(cursor);
      if (cursor !== undefined && after === undefined)
        throw new HttpProblem({
          code: "invalid-query",
          errors: [{ parameter: "cursor", message: "not a cursor of this list" }],
        });
      return { status: 200, body: await timers.listTimers({ name, prefix, statuses, limit, after }) };
    },
  });

const show = (timers: TimerTools) =>
  defineRoute("getTimer")({
    tag: "Timers",
    summary: "One timer",
    answers: {
      200: {
        description: "The timer",
        examples: { "It waits": WAITING, "It is due, and nobody listens": UNHEARD, "It has fired": FIRED },
      },
    },
    async handle({ timerId }) {
      const timer = await timers.findTimer(timerId);
      return timer === undefined ? { kind: "problem", code: "timer-not-found" } : { status: 200, body: timer };
    },
  });

const cancel = (timers: TimerTools) =>
  defineRoute("cancelTimer")({
    tag: "Timers",
    summary: "Cancel a timer: it never fires, or has fired",
    description:
      "Answered 200 it never fires, whatever dies. Answered `already-fired` its firing was committed before; while it is Firing nobody may have heard it yet.",
    answers: { 200: { description: "It never fires", examples: { "It is cancelled": TIMER_CANCELLED } } },
    async handle({ timerId, by }) {
      const outcome = await timers.cancelTimer(timerId, by);
      return outcome.kind === "problem" ? outcome : { status: 200, body: outcome.timer };
    },
  });

/** Throws HttpProblem. */
function readTimer(given: unknown): PutTimer {
  const checked = checkJson(PutTimer, given);
  if (!checked.ok) throw new HttpProblem(checked.refusal);
  const refusal = payloadRefusal(checked.value);
  if (refusal !== undefined) throw new HttpProblem(refusal);
  return checked.value;
}

/** Throws HttpProblem if the body as a whole is wrong. */
function readTimers(given: unknown): (CreateTimer | Refusal)[] {
  const batch = readTimerBatch(given);
  if (!batch.ok) throw new HttpProblem(batch.refusal);
  return batch.timers;
}
