import { ErrorPage, ServiceList, Stats } from "@unacked/contracts";
import { z } from "zod";
import { decodeErrorCursor } from "../../flows/cursor.ts";
import type { ManagerReads } from "../../flows/manager-api.ts";
import { HttpProblem } from "./http-problem.ts";
import { flag, pageLimit } from "./query-fields.ts";
import { defineRoute, type Route } from "./route.ts";

/** What is there besides observers: services, figures, errors. */
export function overviewRoutes(reads: ManagerReads): Route[] {
  return [services(reads), stats(reads), errors(reads)];
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

const errors = (reads: ManagerReads) =>
  defineRoute({
    ...{
      method: "get",
      path: "/api/v1/errors",
      operationId: "listErrors",
      summary: "What landed in unacked.error, newest first",
    },
    query: z.strictObject({
      limit: pageLimit,
      cursor: z.string().max(256).optional().describe("`nextCursor` of the page before"),
    }),
    answers: { 200: { description: "One page", schema: ErrorPage } },
    problems: [],
    async handle({ query: { limit, cursor } }) {
      const after = cursor === undefined ? undefined : decodeErrorCursor(cursor);
      if (cursor !== undefined && after === undefined) {
        throw new HttpProblem({
          code: "invalid-query",
          errors: [{ parameter: "cursor", message: "not a cursor of this list" }],
        });
      }
      return { status: 200, body: await reads.listErrors({ limit, after }) };
    },
  });
