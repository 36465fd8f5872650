import { FailTask, type TaskView } from "@unacked/contracts";
import type { Refusal } from "../../../../operations/refusal.ts";
import type { TaskTakeTools } from "../../../../operations/tasks/task-tools.ts";
import {
  COMPLETED_OUTSIDE,
  ELSEWHERE,
  EXTENDED,
  FAILED_OUTSIDE,
  GIVEN_BACK,
  NONE_KNOWN,
  PUT_OFF,
  SEND_ID,
  TAKEN,
  TAKEN_BACK,
} from "../../openapi/examples/task-take-examples.ts";
import { HttpProblem } from "../http-problem.ts";
import { checkJson } from "../request-input.ts";
import { defineRoute, type Route } from "../route.ts";

/** Calls for workers outside, in any language, and for people who work off a queue by hand. */
export const taskTakeRoutes = (takes: TaskTakeTools): Route[] => [
  take(takes),
  complete(takes),
  fail(takes),
  extend(takes),
  release(takes),
  takeBack(takes),
];

const HELD = "409 `task-not-held` where its lease ran out and it went on without this one.";

const take = (takes: TaskTakeTools) =>
  defineRoute("takeTasks")({
    tag: "Tasks",
    summary: "Take tasks, to work on them outside the services",
    description:
      "The most urgent of these types that may start: limits, priorities and pauses hold as for services. They are nobody else's " +
      "until the lease is over by the database's clock, or their end is told. A lease that runs out is an interruption: another " +
      "has the task then, and with the third it is Failed.",
    bodyExamples: {
      "One, if there is one": { types: ["resize"] },
      "Up to five for two minutes, waited for": { types: ["resize", "crop"], count: 5, leaseMs: 120_000, wait: 30_000 },
    },
    answers: {
      200: {
        description: "What is taken",
        examples: {
          One: TAKEN,
          "There was none in time": { tasks: [] },
          "Nobody has heard of one of the types": NONE_KNOWN,
          "One of the types waits in another pool": ELSEWHERE,
        },
      },
    },
    async handle({ body, by, untilGone, isStillWelcome }) {
      const outcome = await takes.takeTasks(body, by, { signal: untilGone(), isStillWelcome });
      return "kind" in outcome ? outcome : { status: 200, body: outcome };
    },
  });

const complete = (takes: TaskTakeTools) =>
  defineRoute("completeTask")({
    tag: "Tasks",
    summary: "Say that a task which was taken is done, with its result",
    description: `Safe to repeat. ${HELD}`,
    bodyExamples: { "With a result": { sendId: SEND_ID, output: { bytes: 10_240 } } },
    answers: { 200: { description: "The task", examples: { "It is over": COMPLETED_OUTSIDE } } },
    async handle({ taskId, body, by }) {
      return answerOf(await takes.completeTask(taskId, body, by));
    },
  });

const fail = (takes: TaskTakeTools) =>
  defineRoute(
    "failTask",
    readFailure,
  )({
    tag: "Tasks",
    summary: "Say that an attempt at a task which was taken has failed",
    description: `It is tried again while attempts are left (\`maxAttempts\` of the task, or 10). Safe to repeat. ${HELD}`,
    bodyExamples: {
      "It is tried again": { sendId: SEND_ID, error: { message: "the scanner is out of paper" }, retryInMs: 60_000 },
      "Nothing could mend it": { sendId: SEND_ID, error: { name: "BadImage", message: "no such image" }, retryable: false },
    },
    answers: { 200: { description: "The task", examples: { "It is tried again": FAILED_OUTSIDE } } },
    async handle({ taskId, body, by }) {
      return answerOf(await takes.failTask(taskId, body, by));
    },
  });

/** Cuts and mends the error before the body is held against what the database could not keep. Throws HttpProblem. */
function readFailure(given: unknown): FailTask {
  const error = FailTask.shape.error.safeParse((given as { error?: unknown } | null)?.error);
  const checked = checkJson(FailTask, error.success ? { ...(given as object), error: error.data } : given);
  if (!checked.ok) throw new HttpProblem(checked.refusal);
  return checked.value;
}

const extend = (takes: TaskTakeTools) =>
  defineRoute("extendTask")({
    tag: "Tasks",
    summary: "Keep a task which was taken for longer",
    description: `The lease is over \`leaseMs\` from now. Of a task that somebody has cancelled it is not extended any more: 409 \`task-cancelling\`. ${HELD}`,
    bodyExamples: { "For a minute from now": { sendId: SEND_ID, leaseMs: 60_000 } },
    answers: { 200: { description: "Its lease", examples: { Extended: EXTENDED } } },
    async handle({ taskId, body }) {
      const outcome = await takes.extendTask(taskId, body);
      return outcome.kind === "problem" ? outcome : { status: 200, body: { leaseUntil: outcome.until.toISOString() } };
    },
  });

const release = (takes: TaskTakeTools) =>
  defineRoute("releaseTask")({
    tag: "Tasks",
    summary: "Give back a task which was taken, for another to do or for later",
    description:
      "No attempt and no interruption is counted. It is due now, where it stood among others, or in `inMs`; if somebody has cancelled " +
      `it, it is Cancelled. Safe to repeat. ${HELD}`,
    bodyExamples: {
      "The worker is about to end": { sendId: SEND_ID },
      "What it needs is not there yet": { sendId: SEND_ID, inMs: 600_000, reason: "the scanner is at lunch" },
    },
    answers: {
      200: { description: "The task", examples: { "Another may have it": GIVEN_BACK, "It waits": PUT_OFF } },
    },
    async handle({ taskId, body, by }) {
      return answerOf(await takes.releaseTask(taskId, body, by));
    },
  });

const takeBack = (takes: TaskTakeTools) =>
  defineRoute("takeBackTask")({
    tag: "Tasks",
    summary: "Take a task back from a worker outside that is dead",
    description:
      "Its lease is over now, with all that this means: an interruption, of which the third is the task's end, and Cancelled if somebody " +
      "has cancelled it. What the worker still says of it is refused. It is the taking of whoever has the task now (`taken`), so it is not " +
      "safe to repeat: 409 `task-not-taken` where nobody has it.",
    answers: {
      200: { description: "The task", examples: { "Another may have it": TAKEN_BACK } },
    },
    async handle({ taskId, by }) {
      return answerOf(await takes.takeBackTask(taskId, by));
    },
  });

const answerOf = (outcome: TaskView | Refusal): { status: 200; body: TaskView } | Refusal =>
  "kind" in outcome ? outcome : { status: 200, body: outcome };
