import type { ManagerReads } from "../../../../operations/manager-reads.ts";
import { STATS } from "../../openapi/examples/overview-examples.ts";
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
