import type { BulkWorkTools } from "../../../../operations/bulk-work/bulk-work-desk.ts";
import { decodeWorkCursor } from "../../../../operations/cursor.ts";
import {
  NEW_WORK,
  WORK_BEGUN,
  WORK_CANCELLED,
  WORK_DONE,
  WORK_PAGE,
  WORK_UNDER_WAY,
} from "../../openapi/examples/bulk-work-examples.ts";
import { HttpProblem } from "../http-problem.ts";
import { defineRoute, type Route } from "../route.ts";

export const bulkWorkRoutes = (work: BulkWorkTools): Route[] => [begin(work), list(work), show(work), cancel(work)];

const begin = (work: BulkWorkTools) =>
  defineRoute("beginWork")({
    tag: "Bulk work",
    summary: "Begin something on all observers that match, however many",
    description:
      "It is done step by step by whichever manager, in the order of their ids: what does not match any more when its turn comes, and what was created after this call, is left alone. Each is asked once, also when a manager dies.",
    bodyExamples: {
      "Pause all of a team": NEW_WORK,
      "Restart all that failed": { act: "restart", filter: { status: "Failed" } },
    },
    answers: {
      200: { description: "It was begun before, by the same request", examples: { "It goes on": WORK_UNDER_WAY } },
      201: { description: "Begun", examples: { "It begins": WORK_BEGUN } },
    },
    async handle({ body, by }) {
      const outcome = await work.beginWork(body, by);
      if (outcome.kind === "problem") return outcome;
      return { status: outcome.kind === "begun" ? 201 : 200, body: outcome.work };
    },
  });

const list = (work: BulkWorkTools) =>
  defineRoute("listWork")({
    tag: "Bulk work",
    summary: "List bulk work, the newest first",
    answers: { 200: { description: "One page", examples: { "One that goes on": WORK_PAGE } } },
    async handle({ query: { status: statuses, limit, cursor } }) {
      const after = cursor === undefined ? undefined : decodeWorkCursor(cursor);
      if (cursor !== undefined && after === undefined)
        throw new HttpProblem({
          code: "invalid-query",
          errors: [{ parameter: "cursor", message: "not a cursor of this list" }],
        });
      return { status: 200, body: await work.listWork({ statuses, limit, after }) };
    },
  });

const show = (work: BulkWorkTools) =>
  defineRoute("getWork")({
    tag: "Bulk work",
    summary: "How far it is",
    answers: { 200: { description: "The work", examples: { "It goes on": WORK_UNDER_WAY, "It is done": WORK_DONE } } },
    async handle({ workId }) {
      const found = await work.findWork(workId);
      return found === undefined ? { kind: "problem", code: "work-not-found" } : { status: 200, body: found };
    },
  });

const cancel = (work: BulkWorkTools) =>
  defineRoute("cancelWork")({
    tag: "Bulk work",
    summary: "Do no more of it",
    description: "What was done stays done. A step that is under way comes first.",
    answers: { 200: { description: "No more of it is done", examples: { "After half of it": WORK_CANCELLED } } },
    async handle({ workId, by }) {
      const outcome = await work.cancelWork(workId, by);
      return "code" in outcome ? outcome : { status: 200, body: outcome };
    },
  });
