import type { TaskTypeTools } from "../../../../operations/tasks/task-tools.ts";
import { LIMITED_TYPE, PAUSED_TYPE, TASK_TYPES } from "../../openapi/examples/task-type-examples.ts";
import { defineRoute, type Route } from "../route.ts";

/** Calls about the limits of each task type. */
export const taskTypeRoutes = (types: TaskTypeTools): Route[] => [list(types), change(types)];

const list = (types: TaskTypeTools) =>
  defineRoute("listTaskTypes")({
    tag: "Tasks",
    summary: "Task types with their limits",
    answers: { 200: { description: "The types, by name", examples: { "One type": TASK_TYPES } } },
    handle: async () => ({ status: 200, body: await types.listTaskTypes() }),
  });

const change = (types: TaskTypeTools) =>
  defineRoute("changeTaskType")({
    tag: "Tasks",
    summary: "Change the limits of a task type, or pause it",
    description:
      "What is left out stays as it is. The limits hold for all that is started after the answer, in all pools together; what is in " +
      "the queue or runs already stays so.",
    bodyExamples: {
      "At most seven at once, fifty a second": { maxRunning: 7, ratePerSecond: 50 },
      Pause: { paused: true },
      "It is worked outside": { outside: true },
      "No limit any more": { paused: false, maxRunning: null, minRunning: 0, ratePerSecond: null },
    },
    answers: {
      200: { description: "As it is now", examples: { Limited: LIMITED_TYPE, Paused: PAUSED_TYPE } },
    },
    async handle({ taskType, body, by }) {
      const outcome = await types.changeTaskType(taskType, body, by);
      return outcome.kind === "problem" ? outcome : { status: 200, body: outcome.type };
    },
  });
