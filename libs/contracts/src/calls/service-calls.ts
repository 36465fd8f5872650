import { z } from "zod";
import { ServiceList, ServiceView } from "../rest/services.ts";
import { TypeList } from "../rest/types.ts";
import type { Call } from "./call.ts";
import { flag } from "./query-fields.ts";

/** Calls about the processes that run observers, and the types that they know. */
export const SERVICE_CALLS = {
  listServices: {
    access: "viewer",
    query: z.strictObject({ all: flag.describe("also those that have ended") }),
    answers: { 200: ServiceList },
    problems: [],
  },
  drainService: {
    access: "admin",
    answers: { 202: ServiceView },
    problems: ["service-not-found", "service-ended", "service-ambiguous", "not-ready", "cross-origin"],
  },
  cordonService: {
    access: "admin",
    answers: { 202: ServiceView },
    problems: ["service-not-found", "service-ended", "service-ambiguous", "service-too-old", "not-ready", "cross-origin"],
  },
  uncordonService: {
    access: "admin",
    answers: { 202: ServiceView },
    problems: ["service-not-found", "service-ended", "service-ambiguous", "service-too-old", "not-ready", "cross-origin"],
  },
  reloadService: {
    access: "admin",
    answers: { 202: ServiceView },
    problems: ["service-not-found", "service-ended", "service-ambiguous", "service-too-old", "not-ready", "cross-origin"],
  },
  listTypes: { access: "viewer", answers: { 200: TypeList }, problems: [] },
} as const satisfies Record<string, Call>;
