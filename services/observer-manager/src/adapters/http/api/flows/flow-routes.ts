import { FLOW_TASK_MESSAGE_CHARS } from "@unacked/contracts";
import { decodeFlowCursor, decodePlaceCursor } from "../../../../operations/cursor.ts";
import type { FlowTools } from "../../../../operations/flows/flow-tools.ts";
import {
  FLOW_AGAIN,
  FLOW_CANCELLING,
  FLOW_COMPLETED,
  FLOW_CREATED,
  FLOW_EXISTED,
  FLOW_FAILED,
  FLOW_ID,
  FLOW_PAGE,
  FLOW_RUNNING,
  FLOW_TASK_PAGE,
  NEW_FLOW,
  STAGES,
} from "../../openapi/examples/flow-examples.ts";
import { HttpProblem } from "../http-problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { waitMsOf } from "../tasks/task-query.ts";

const FLOWS = "/api/v1/flows";
const AT_LOCATION = { headers: { Location: { description: "the flow's path", example: `${FLOWS}/${FLOW_ID}` } } };
/** The most tasks of a page with outputs, as each output may have 64 KiB. */
const MOST_WITH_OUTPUTS = 100;

export const flowRoutes = (flows: FlowTools): Route[] => [
  create(flows),
  list(flows),
  show(flows),
  listTasks(flows),
  cancel(flows),
  rerun(flows),
];

const create = (flows: FlowTools) =>
  defineRoute("createFlow")({
    tag: "Flows",
    summary: "Create a flow: tasks that wait for each other",
    description:
      "All of it, or nothing. Each task is given the results of those that it comes directly after. Circles are refused with their path.",
    bodyExamples: { "Stages, one after the other": STAGES, "Two inputs, one of which may be missing": NEW_FLOW },
    answers: {
      200: {
        description: "The same request was accepted before: same `id`, same content",
        examples: { "It is over meanwhile": FLOW_EXISTED },
        ...AT_LOCATION,
      },
      201: { description: "Accepted", examples: { "Its first tasks are due": FLOW_CREATED }, ...AT_LOCATION },
    },
    async handle({ body, by }) {
      const outcome = await flows.createFlow(body, by);
      if (outcome.kind === "problem") return outcome;
      const { kind, flow } = outcome;
      const status = kind === "created" ? 201 : 200;
      return { status, body: { ...flow, outcome: kind }, headers: { Location: `${FLOWS}/${flow.id}` } };
    },
  });

const list = (flows: FlowTools) =>
  defineRoute("listFlows")({
    tag: "Flows",
    summary: "List flows, the newest first",
    answers: { 200: { description: "One page", examples: { "One that runs": FLOW_PAGE } } },
    async handle({ query: { name, status: statuses, limit, cursor } }) {
      const after = cursor === undefined ? undefined : decodeFlowCursor(cursor);
      if (cursor !== undefined && after === undefined) throw notACursor();
      return { status: 200, body: await flows.listFlows({ name, statuses, limit, after }) };
    },
  });

const show = (flows: FlowTools) =>
  defineRoute("getFlow")({
    tag: "Flows",
    summary: "One flow, at once or when it is over",
    answers: {
      200: {
        description: "The flow",
        examples: {
          "It runs": FLOW_RUNNING,
          "It is over": FLOW_COMPLETED,
          "A task failed that others came after": FLOW_FAILED,
        },
      },
    },
    async handle({ flowId, query, untilGone }) {
      const flow = await flows.findFlow(flowId, waitMsOf(query.wait), untilGone());
      return flow === undefined ? { kind: "problem", code: "flow-not-found" } : { status: 200, body: flow };
    },
  });

const listTasks = (flows: FlowTools) =>
  defineRoute("listFlowTasks")({
    tag: "Flows",
    summary: "The tasks of a flow: how they stand, and what comes after what",
    description: `With ${FLOW_TASK_MESSAGE_CHARS} characters of an error's message: the task itself has all of it. With \`outputs\` a page has ${MOST_WITH_OUTPUTS} at most.`,
    answers: {
      200: { description: "One page, in the order of the create", examples: { "One is missing": FLOW_TASK_PAGE } },
    },
    async handle({ flowId, query: { outputs, limit, cursor } }) {
      const fromPlace = cursor === undefined ? 0 : decodePlaceCursor(cursor);
      if (fromPlace === undefined) throw notACursor();
      const asked = {
        fromPlace,
        limit: outputs ? Math.min(limit, MOST_WITH_OUTPUTS) : limit,
        withOutputs: outputs,
      };
      const page = await flows.listFlowTasks(flowId, asked);
      return page === undefined ? { kind: "problem", code: "flow-not-found" } : { status: 200, body: page };
    },
  });

const cancel = (flows: FlowTools) =>
  defineRoute("cancelFlow")({
    tag: "Flows",
    summary: "Cancel a flow whole",
    description:
      "What does not run is Cancelled, some at a time; what runs is told to end. Whatever completes first stays Completed.",
    answers: { 202: { description: "Its tasks are being cancelled", examples: { "One still runs": FLOW_CANCELLING } } },
    async handle({ flowId, by }) {
      const outcome = await flows.cancelFlow(flowId, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.flow };
    },
  });

const rerun = (flows: FlowTools) =>
  defineRoute("rerunFlow")({
    tag: "Flows",
    summary: "Run a flow again from a task, or from what failed",
    description:
      "Of a flow that is over. What runs again are new tasks; the others keep their results, which are the inputs of these.",
    bodyExamples: { "From a stage": { from: "parse" }, "All that did not complete": {} },
    answers: { 202: { description: "It runs again", examples: { "From parse": FLOW_AGAIN } } },
    async handle({ flowId, body, by }) {
      const outcome = await flows.rerunFlow(flowId, body, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.flow };
    },
  });

const notACursor = () =>
  new HttpProblem({ code: "invalid-query", errors: [{ parameter: "cursor", message: "not a cursor of this list" }] });
