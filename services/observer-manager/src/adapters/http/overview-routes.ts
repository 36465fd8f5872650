import { ServiceList, ServiceView, Stats } from "@unacked/contracts";
import { z } from "zod";
import type { ManagerReads, ServiceTools } from "../../flows/manager-api.ts";
import { answer } from "./call-description.ts";
import { STATS } from "./examples/overview-examples.ts";
import { DRAINED_SERVICE, DRAINING_SERVICE, SERVICES } from "./examples/service-examples.ts";
import { flag } from "./query-fields.ts";
import { defineRoute, type Route } from "./route.ts";

/** What is there besides observers: services and figures. */
export function overviewRoutes(reads: ManagerReads, tools: ServiceTools): Route[] {
  return [services(reads), drain(tools), stats(reads)];
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

const drain = (tools: ServiceTools) =>
  defineRoute({
    ...{
      method: "post",
      path: "/api/v1/services/{service}/drain",
      tag: "Services",
      operationId: "drainService",
      summary: "Let a service take no more work and give back what it runs",
      description:
        "Each observer is stopped first and runs elsewhere where a worker is free; otherwise it waits for one. The service stays, " +
        "idle, for as long as its process lives, also when it connects anew: it is `draining`, and `drained` when nothing is left " +
        "on it. The next process takes work again. Safe to repeat.",
    },
    access: "admin",
    answers: {
      202: answer("It drains, or will as soon as it hears of it", ServiceView, {
        "It was asked just now": DRAINING_SERVICE,
        "Nothing is left on it": DRAINED_SERVICE,
      }),
    },
    problems: ["service-not-found", "service-ended", "service-ambiguous", "not-ready", "cross-origin"],
    async handle({ service, by }) {
      const outcome = await tools.drainService(service, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.service };
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
