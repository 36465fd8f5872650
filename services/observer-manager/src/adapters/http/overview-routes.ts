import { ServiceList, Stats } from "@unacked/contracts";
import { z } from "zod";
import type { ManagerReads } from "../../flows/manager-api.ts";
import { flag } from "./query-fields.ts";
import { defineRoute, type Route } from "./route.ts";

/** What is there besides observers: services and figures. */
export function overviewRoutes(reads: ManagerReads): Route[] {
  return [services(reads), stats(reads)];
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

const stats = (reads: ManagerReads) =>
  defineRoute({
    ...{ method: "get", path: "/api/v1/stats", operationId: "getStats", summary: "Counts, workers, queues" },
    answers: { 200: { description: "The figures", schema: Stats } },
    problems: [],
    async handle() {
      return { status: 200, body: await reads.stats() };
    },
  });
