import { z } from "zod";
import { MAX_BATCH_BODY_BYTES, MAX_REFS_BODY_BYTES } from "../rest/bulk.ts";
import { CreatedFlow, CreateFlow, FlowPage, FlowStatusName, FlowTaskPage, FlowView, RerunFlow } from "../rest/flows.ts";
import { BODY_PROBLEMS, type Call } from "./call.ts";
import { flag, keptText, listOf, pageCursor, pageLimit, waitSeconds } from "./query-fields.ts";

/** Calls about flows: tasks that wait for each other. */
export const FLOW_CALLS = {
  createFlow: {
    access: "operator",
    body: CreateFlow,
    bodyLimitBytes: MAX_BATCH_BODY_BYTES,
    answers: { 200: CreatedFlow, 201: CreatedFlow },
    problems: [...BODY_PROBLEMS, "id-taken", "unknown-type", "flows-not-known", "cross-origin"],
  },
  listFlows: {
    access: "viewer",
    query: z.strictObject({
      name: keptText(128).optional().describe("exactly this name"),
      status: listOf(FlowStatusName).optional().describe("repeat it, or separate by commas"),
      limit: pageLimit,
      cursor: pageCursor,
    }),
    answers: { 200: FlowPage },
    problems: [],
  },
  getFlow: {
    access: "viewer",
    query: z.strictObject({ wait: waitSeconds("flow") }),
    answers: { 200: FlowView },
    problems: ["flow-not-found"],
  },
  listFlowTasks: {
    access: "viewer",
    query: z.strictObject({
      outputs: flag.describe("with what each has returned; then a page is 100 at most"),
      limit: pageLimit,
      cursor: pageCursor,
    }),
    answers: { 200: FlowTaskPage },
    problems: ["flow-not-found"],
  },
  cancelFlow: {
    access: "operator",
    answers: { 202: FlowView },
    problems: ["flow-not-found", "flow-over", "cross-origin"],
  },
  rerunFlow: {
    access: "operator",
    body: RerunFlow,
    bodyLimitBytes: MAX_REFS_BODY_BYTES,
    answers: { 202: FlowView },
    problems: [...BODY_PROBLEMS, "flow-not-found", "flow-running", "flow-not-rerunnable", "flows-not-known", "cross-origin"],
  },
} as const satisfies Record<string, Call>;
