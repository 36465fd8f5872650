import type { TaskTools } from "../../../../operations/tasks/task-tools.ts";
import { defineRoute, type Route } from "../route.ts";

/** Calls that cancel and retry many tasks at once. */
export const taskBulkRoutes = (tasks: TaskTools): Route[] => [cancel(tasks), retry(tasks)];

const BOUNDED =
  "At most 10,000 a call; `more` says that others match too. What was accepted stays so, whatever becomes of the rest.";

const cancel = (tasks: TaskTools) =>
  defineRoute("cancelTasks")({
    tag: "Tasks",
    summary: "Cancel tasks by ids, or all that match",
    description: `As one by one: what does not run is Cancelled at once, what runs is told to end. ${BOUNDED}`,
    bodyExamples: {
      "All of a type that wait": { filter: { type: "resize", status: ["Scheduled", "Ready"] } },
      "How many that would be": { filter: { type: "resize" }, dryRun: true },
    },
    answers: {
      200: { description: "How many", examples: { "Some thousands": { matched: 4_200, accepted: 4_198, more: false } } },
    },
    async handle({ body, by }) {
      return { status: 200, body: await tasks.changeTasks({ ...body, kind: "cancel" }, by) };
    },
  });

const retry = (tasks: TaskTools) =>
  defineRoute("retryTasks")({
    tag: "Tasks",
    summary: "Run tasks again, by ids or all that match",
    description: `As one by one; without a status in the filter: what is Failed. ${BOUNDED}`,
    bodyExamples: { "All of a type that are Failed": { filter: { type: "resize" } } },
    answers: {
      200: { description: "How many", examples: { "Some hundreds": { matched: 310, accepted: 310, more: false } } },
    },
    async handle({ body, by }) {
      return { status: 200, body: await tasks.changeTasks({ ...body, kind: "retry" }, by) };
    },
  });
