import type { CreateTask, TaskView } from "@unacked/contracts";
import type { Refusal } from "../../../../operations/refusal.ts";
import { batchReceipts, batchResults, readBatch } from "../../../../operations/tasks/creations/task-batch.ts";
import type { TaskOutcome, TaskTools } from "../../../../operations/tasks/task-tools.ts";
import {
  COMPLETED,
  CREATED,
  EXISTED,
  NEW_TASK,
  QUEUED,
  READY,
  TASK_BATCH,
  TASK_BATCH_RESULTS,
  TASK_CANCELLED,
  TASK_CANCELLING,
  TASK_COMPLETED_IN_EMERGENCY,
  TASK_FAILED,
  TASK_ID,
  TASK_INTERRUPTED,
  TASK_PAGE,
  TASK_POSTPONED,
  TASK_RECEIPTS,
  TASK_RUNNING,
  TASK_TO_RETRY,
  TASK_WITH_CHILDREN,
} from "../../openapi/examples/task-examples.ts";
import { HttpProblem } from "../http-problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { toTaskQuery, waitMsOf } from "./task-query.ts";

const TASKS = "/api/v1/tasks";
const AT_LOCATION = { headers: { Location: { description: "the task's path", example: `${TASKS}/${TASK_ID}` } } };

export const taskRoutes = (tasks: TaskTools): Route[] => [
  create(tasks),
  createMany(tasks),
  list(tasks),
  show(tasks),
  cancel(tasks),
  change(tasks),
  retry(tasks),
];

const create = (tasks: TaskTools) =>
  defineRoute("createTask")({
    tag: "Tasks",
    summary: "Create a task; accepted means it ends once in the books",
    description:
      "It waits for a worker as long as it takes. Its handler may run more than once: its process can die just before its end is written down.",
    bodyExamples: {
      "With params": NEW_TASK,
      "Safe to repeat, urgent, and not before nine": {
        ...NEW_TASK,
        id: TASK_ID,
        priority: 10,
        startAt: "2026-11-21T09:00:00Z",
        maxAttempts: 3,
      },
      "Never two at once, the newest last": { ...NEW_TASK, key: "logo", onConflict: "queue-latest" },
    },
    answers: {
      200: {
        description:
          "The same request was accepted before (same `id`, same type, pool and params), or another task has its `key`: see `outcome`",
        examples: { "It is over meanwhile": EXISTED, "It runs once more with these params": QUEUED },
        ...AT_LOCATION,
      },
      201: { description: "Accepted", examples: { "It waits for its turn": CREATED }, ...AT_LOCATION },
    },
    async handle({ body, by }) {
      const [outcome] = await tasks.createTasks([body], by);
      if (outcome === undefined) throw new Error("a task was neither accepted nor refused");
      if (outcome.kind === "problem") return outcome;
      const { kind, id } = outcome;
      const status = kind === "created" ? 201 : 200;
      return { status, body: { ...outcome.task(), outcome: kind }, headers: { Location: `${TASKS}/${id}` } };
    },
  });

const createMany = (tasks: TaskTools) =>
  defineRoute(
    "createTasks",
    readTasks,
  )({
    tag: "Tasks",
    summary: "Create up to 10,000 tasks, each answered for itself",
    bodyExamples: { "Each for itself": TASK_BATCH },
    answers: {
      200: {
        description: "What became of each, in the order given",
        examples: { "One accepted, one refused": TASK_BATCH_RESULTS },
        receipts: { "The same as receipts": TASK_RECEIPTS },
      },
    },
    async handle({ body, requestId, by, prefersMinimal }) {
      const outcomes = await tasks.createTasks(body, by, { areShown: !prefersMinimal });
      return { status: 200, body: prefersMinimal ? batchReceipts(outcomes, requestId) : batchResults(outcomes, requestId) };
    },
  });

const list = (tasks: TaskTools) =>
  defineRoute("listTasks")({
    tag: "Tasks",
    summary: "List tasks, newest first",
    answers: { 200: { description: "One page", examples: { "One of many": TASK_PAGE } } },
    async handle({ query }) {
      return { status: 200, body: await tasks.listTasks(toTaskQuery(query)) };
    },
  });

const show = (tasks: TaskTools) =>
  defineRoute("getTask")({
    tag: "Tasks",
    summary: "One task, at once or when it is over",
    answers: {
      200: {
        description: "The task",
        examples: {
          "It is over": COMPLETED,
          "It runs": TASK_RUNNING,
          "It is tried again": TASK_TO_RETRY,
          "It was interrupted": TASK_INTERRUPTED,
          "Its handler has put it off": TASK_POSTPONED,
          "Its handler has created others": TASK_WITH_CHILDREN,
          "It was given up": TASK_FAILED,
          "Its emergency handler completed it": TASK_COMPLETED_IN_EMERGENCY,
        },
      },
    },
    async handle({ taskId, query, untilGone }) {
      const task = await tasks.findTask(taskId, waitMsOf(query.wait), untilGone());
      return task === undefined ? { kind: "problem", code: "task-not-found" } : { status: 200, body: task };
    },
  });

const cancel = (tasks: TaskTools) =>
  defineRoute("cancelTask")({
    tag: "Tasks",
    summary: "Cancel a task",
    description:
      "What does not run is Cancelled at once. What runs is told to end, and is Cancelled when it has, unless it completes first.",
    answers: {
      202: {
        description: "It is cancelled, or its handler is told to end",
        examples: { "It had not started": TASK_CANCELLED, "Its handler is told to end": TASK_CANCELLING },
      },
    },
    async handle({ taskId, by }) {
      return accepted(await tasks.cancelTask(taskId, by));
    },
  });

const change = (tasks: TaskTools) =>
  defineRoute("changeTask")({
    tag: "Tasks",
    summary: "Change how urgent a task is",
    description:
      "What waits takes its new place at once; at most what was sent already goes before it. What runs goes on, and has it when it is tried again.",
    bodyExamples: { "More urgent": { priority: 10 } },
    answers: { 200: { description: "The task", examples: { "It waits for its turn": READY } } },
    async handle({ taskId, body, by }) {
      const outcome = await tasks.changeTask(taskId, body, by);
      return outcome.kind === "problem" ? outcome : { status: 200, body: outcome.task };
    },
  });

const retry = (tasks: TaskTools) =>
  defineRoute("retryTask")({
    tag: "Tasks",
    summary: "Run it again, with all its attempts",
    description:
      "Of a task that is Failed or Cancelled. One that waits for its next attempt is tried at once, and keeps its count.",
    answers: { 202: { description: "It will run", examples: { "It waits for its turn": READY } } },
    async handle({ taskId, by }) {
      return accepted(await tasks.retryTask(taskId, by));
    },
  });

const accepted = (outcome: TaskOutcome): Refusal | { status: 202; body: TaskView } =>
  outcome.kind === "problem" ? outcome : { status: 202, body: outcome.task };

/** Throws HttpProblem if the body as a whole is wrong. */
function readTasks(given: unknown): (CreateTask | Refusal)[] {
  const batch = readBatch(given);
  if (!batch.ok) throw new HttpProblem(batch.refusal);
  return batch.tasks;
}
