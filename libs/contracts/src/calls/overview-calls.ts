import { z } from "zod";
import { ServiceName, TypeName } from "../ids.ts";
import { ChangesReady, ChangesResync } from "../rest/changes.ts";
import { ObserverView } from "../rest/observers.ts";
import { MAX_RUN_FIGURE_MINUTES, RunFigures } from "../rest/run-figures.ts";
import { ServiceView } from "../rest/services.ts";
import { Readiness, Stats } from "../rest/stats.ts";
import { type Call, GATE_PROBLEMS } from "./call.ts";

/** The events of GET /events, by name, with what each carries. */
export const CHANGE_EVENTS = {
  observer: ObserverView,
  service: ServiceView,
  ready: ChangesReady,
  resync: ChangesResync,
} as const;
type ChangeEventName = keyof typeof CHANGE_EVENTS;
/** What has changed, as a whole, in its new state; or how the stream goes on. */
export type ChangeEvent = {
  [Name in ChangeEventName]: { name: Name; data: z.infer<(typeof CHANGE_EVENTS)[Name]> };
}[ChangeEventName];

/** Calls about the whole system: figures, changes as they happen, and what probes ask. */
export const OVERVIEW_CALLS = {
  getStats: { access: "viewer", answers: { 200: Stats }, problems: [] },
  getRunFigures: {
    access: "viewer",
    query: z.strictObject({
      minutes: z
        .preprocess(
          (given) => (typeof given === "string" && /^[0-9]{1,4}$/.test(given) ? Number(given) : given),
          z.int().min(1).max(MAX_RUN_FIGURE_MINUTES),
        )
        .default(60)
        .describe("the last so many, this one included; of a day they are kept"),
      type: TypeName.optional().describe("only of this observer type"),
      service: ServiceName.optional().describe("only on services of this name, or the one of this id"),
    }),
    answers: { 200: RunFigures },
    problems: [],
  },
  followChanges: {
    access: "viewer",
    query: z.strictObject({
      lastEventId: z
        .string()
        .max(64)
        .optional()
        .describe("where to go on, for clients that cannot set the Last-Event-ID header"),
    }),
    headers: z.object({ "Last-Event-ID": z.string().optional().describe("the `id` of the last event that was received") }),
    answers: { 200: z.string() },
    events: CHANGE_EVENTS,
    problems: ["invalid-query", "wrong-host"],
  },
  isAlive: { access: "open", answers: { 200: z.object({ status: z.literal("ok") }) }, problems: [] },
  isReady: { access: "open", answers: { 200: Readiness, 503: Readiness }, problems: [] },
  getMetrics: { access: "open", answers: { 200: z.string() }, problems: [...GATE_PROBLEMS] },
  getDocument: { access: "open", answers: { 200: z.looseObject({ openapi: z.string() }) }, problems: ["wrong-host"] },
} as const satisfies Record<string, Call>;
