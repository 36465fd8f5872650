import { z } from "zod";
import { BeginWork, WorkPage, WorkStatusName, WorkView } from "../rest/work.ts";
import { BODY_PROBLEMS, type Call } from "./call.ts";
import { listOf, pageCursor, pageLimit } from "./query-fields.ts";

/** Calls about bulk changes of very many, which are done step by step. */
export const WORK_CALLS = {
  beginWork: {
    access: "operator",
    body: BeginWork,
    answers: { 200: WorkView, 201: WorkView },
    problems: [...BODY_PROBLEMS, "id-taken", "cross-origin"],
  },
  listWork: {
    access: "viewer",
    query: z.strictObject({
      status: listOf(WorkStatusName).optional().describe("repeat it, or separate by commas"),
      limit: pageLimit,
      cursor: pageCursor,
    }),
    answers: { 200: WorkPage },
    problems: [],
  },
  getWork: {
    access: "viewer",
    answers: { 200: WorkView },
    problems: ["work-not-found"],
  },
  cancelWork: {
    access: "operator",
    answers: { 200: WorkView },
    problems: ["work-not-found", "work-over", "cross-origin"],
  },
} as const satisfies Record<string, Call>;
