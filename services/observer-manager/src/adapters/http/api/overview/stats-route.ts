import type { ManagerReads } from "../../../../operations/manager-reads.ts";
import { RUN_FIGURES, STATS } from "../../openapi/examples/overview-examples.ts";
import { defineRoute } from "../route.ts";

export const statsRoute = (reads: ManagerReads) =>
  defineRoute("getStats")({
    tag: "Overview",
    summary: "Counts, workers, queues",
    answers: { 200: { description: "The figures", examples: { "All workers are taken": STATS } } },
    async handle() {
      return { status: 200, body: await reads.stats() };
    },
  });

export const runFiguresRoute = (reads: ManagerReads) =>
  defineRoute("getRunFigures")({
    tag: "Overview",
    summary: "Starts, failures, interruptions and emits by the minute, and by type and service",
    description:
      "Counted by the transactions that write what happened, and kept for a day. What was emitted is as services tell it, every 5 s: what a service " +
      "emitted since it told last is missing when it dies.",
    answers: { 200: { description: "The oldest minute first", examples: { "Two minutes": RUN_FIGURES } } },
    handle: async ({ query }) => ({ status: 200, body: await reads.runFigures(query) }),
  });
