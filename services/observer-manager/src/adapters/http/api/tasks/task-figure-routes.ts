import type { TaskFigureTools } from "../../../../operations/tasks/task-tools.ts";
import { FIGURES_BY_MINUTE, FIGURES_NOW } from "../../openapi/examples/task-figure-examples.ts";
import { defineRoute, type Route } from "../route.ts";

/** Calls about the figures of each task type, by the minute and hour, and how it stands now. */
export const taskFigureRoutes = (figures: TaskFigureTools): Route[] => [list(figures), show(figures)];

const list = (figures: TaskFigureTools) =>
  defineRoute("listTaskFigures")({
    tag: "Tasks",
    summary: "How each task type goes: throughput, what waits, running times, load",
    description: "Exact, as far as it is not said otherwise: each end is counted by the transaction that writes it.",
    answers: { 200: { description: "The types, by name", examples: { "One type": FIGURES_NOW } } },
    handle: async ({ query }) => ({ status: 200, body: await figures.listTaskFigures(query.by) }),
  });

const show = (figures: TaskFigureTools) =>
  defineRoute("getTaskFigures")({
    tag: "Tasks",
    summary: "Figures of one task type, by minute or hour",
    answers: { 200: { description: "The oldest first", examples: { "Two minutes": FIGURES_BY_MINUTE } } },
    async handle({ taskType, query }) {
      const found = await figures.getTaskFigures(taskType, query);
      return "kind" in found ? found : { status: 200, body: found };
    },
  });
