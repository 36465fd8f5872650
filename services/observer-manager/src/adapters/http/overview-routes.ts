import { ServiceList, ServiceView, Stats } from "@unacked/contracts";
import { z } from "zod";
import type { ManagerReads, ServiceTools } from "../../flows/manager-api.ts";
import { flag } from "./query-fields.ts";
import { defineRoute, type Route } from "./route.ts";

/** What is there besides observers: services and figures. */
export function overviewRoutes(reads: ManagerReads, tools: ServiceTools): Route[] {
  return [services(reads), drain(tools), stats(reads)];
}

const services = (reads: ManagerReads) =>
  defineRoute({
    ...{ method: "get", path: "/api/v1/services", operationId: "listServices", summary: "Observer services that live" },
    query: z.strictObject({ all: flag.describe("also those that have ended") }),
    answers: { 200: { description: "The services", schema: ServiceList } },
    problems: [],
    async handle({ query }) {
      return { status: 200, body: await reads.listServices({ all: query.all }) };
    },
  });

const drain = (tools: ServiceTools) =>
  defineRoute({
    ...{
      method: "post",
      path: "/api/v1/services/{service}/drain",
      operationId: "drainService",
      summary: "Let a service take no more work and give back what it runs; it stays, idle, until its process ends",
    },
    answers: { 202: { description: "It drains, or will as soon as it hears of it; safe to repeat", schema: ServiceView } },
    problems: ["service-not-found", "service-ended", "service-ambiguous", "not-ready", "cross-origin"],
    async handle({ service }) {
      const outcome = await tools.drainService(service);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.service };
    },
  });

const stats = (reads: ManagerReads) =>
  defineRoute({
    ...{ method: "get", path: "/api/v1/stats", operationId: "getStats", summary: "Counts, workers, queues" },
    answers: { 200: { description: "The figures", schema: Stats } },
    problems: [],
    async handle() {
      return { status: 200, body: await reads.stats() };
    },
  });
