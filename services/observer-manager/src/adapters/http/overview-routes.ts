import { ServiceList, Stats } from "@unacked/contracts";
import { z } from "zod";
import type { ManagerReads } from "../../flows/manager-api.ts";
import { answer } from "./call-description.ts";
import { STATS } from "./examples/overview-examples.ts";
import { SERVICES } from "./examples/service-examples.ts";
import { flag } from "./query-fields.ts";
import { defineRoute, type Route } from "./route.ts";

/** What is there besides observers: services and figures. */
export function overviewRoutes(reads: ManagerReads): Route[] {
  return [services(reads), stats(reads)];
}

const services = (reads: ManagerReads) =>
  defineRoute({
    ...{
      method: "get",
      path: "/api/v1/services",
      tag: "Services",
      operationId: "listServices",
      summary: "Observer services that live",
    },
    access: "viewer",
    query: z.strictObject({ all: flag.describe("also those that have ended") }),
    answers: { 200: answer("The services", ServiceList, { "One service": SERVICES }) },
    problems: [],
    async handle({ query }) {
      return { status: 200, body: await reads.listServices({ all: query.all }) };
    },
  });

const stats = (reads: ManagerReads) =>
  defineRoute({
    ...{
      method: "get",
      path: "/api/v1/stats",
      tag: "Overview",
      operationId: "getStats",
      summary: "Counts, workers, queues",
    },
    access: "viewer",
    answers: { 200: answer("The figures", Stats, { "All workers are taken": STATS }) },
    problems: [],
    async handle() {
      return { status: 200, body: await reads.stats() };
    },
  });
