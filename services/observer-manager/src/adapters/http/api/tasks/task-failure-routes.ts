import type { TaskFailureTools } from "../../../../operations/tasks/task-tools.ts";
import { READY } from "../../openapi/examples/task-examples.ts";
import { TASK_EDITED, TASK_FAILURES } from "../../openapi/examples/task-failure-examples.ts";
import { defineRoute, type Route } from "../route.ts";

/** Calls about Failed tasks: their groups, to run a group again, and to run a task with other params. */
export const taskFailureRoutes = (failures: TaskFailureTools): Route[] => [
  group(failures),
  retryGroup(failures),
  retryWith(failures),
];

const group = (failures: TaskFailureTools) =>
  defineRoute("groupTaskFailures")({
    tag: "Tasks",
    summary: "Failed tasks by type and what went wrong, the most frequent first",
    answers: { 200: { description: "The groups", examples: { "One cause": TASK_FAILURES } } },
    handle: async ({ query }) => ({ status: 200, body: await failures.groupTaskFailures(query) }),
  });

const retryGroup = (failures: TaskFailureTools) =>
  defineRoute("retryTaskFailures")({
    tag: "Tasks",
    summary: "Run a whole group of failed tasks again",
    description:
      "Those that are Failed with such an error now, the newest 10,000 of them at most; `more` says that there are others. The newest 1,000,000 Failed of the type are looked at.",
    bodyExamples: { "All of one cause": { type: "resize", group: "TypeError: fetch failed" } },
    answers: {
      200: { description: "How many", examples: { "Some hundreds": { matched: 310, accepted: 310, more: false } } },
    },
    async handle({ body, by }) {
      return { status: 200, body: await failures.retryTaskFailures(body, by) };
    },
  });

const retryWith = (failures: TaskFailureTools) =>
  defineRoute("retryTaskWith")({
    tag: "Tasks",
    summary: "Run it again with other params, and all its attempts",
    description:
      "Of a task that is Failed or Cancelled, or waits for its next attempt. Its id, key and story stay; the story says who has changed the params, and what they were.",
    bodyExamples: { "A smaller one": { params: { width: 320 } } },
    answers: { 202: { description: "It will run", examples: { "It waits for its turn": READY, Edited: TASK_EDITED } } },
    async handle({ taskId, body, by }) {
      const outcome = await failures.retryTaskWith(taskId, body.params, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.task };
    },
  });
