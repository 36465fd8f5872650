import {
  BulkCount,
  BulkResults,
  type ObserverFilter as FilterBody,
  MAX_REFS_BODY_BYTES,
  OBSERVER_STATUSES,
  type ObserverId,
  PROBLEMS,
  RestartRequest,
  StopRequest,
} from "@unacked/contracts";
import { z } from "zod";
import type { Actor } from "../../domain/actor.ts";
import type { BulkChange, ChangeOutcome, Lifecycle, ObserverFilter, ObserverRef, Refusal } from "../../flows/manager-api.ts";
import { answer } from "./call-description.ts";
import { RESTART_COUNT, RESTART_RESULTS, STOP_COUNT, STOP_RESULTS } from "./examples/bulk-examples.ts";
import { toProblemDetails } from "./http-problem.ts";
import { serviceRefOf } from "./observer-query.ts";
import { type Answer, BODY_PROBLEMS, defineRoute, type Route } from "./route.ts";

/** Stop or restart many: some by ids and names, answered one by one, or all that match, counted. */
export function bulkRoutes(lifecycle: Lifecycle): Route[] {
  return [stopMany(lifecycle), restartMany(lifecycle)];
}

const answersOf = (results: BulkResults, count: BulkCount) => ({
  200: answer(
    "Of ids and names: what became of each, in the order given. Of a filter: how many",
    z.union([BulkResults, BulkCount]),
    { "Of names": results, "Of a filter": count },
  ),
});

const stopMany = (lifecycle: Lifecycle) =>
  defineRoute({
    ...{
      method: "post",
      path: "/api/v1/observers/stop",
      tag: "Observers",
      operationId: "stopObservers",
      summary: "Stop many for good",
    },
    access: "operator",
    body: StopRequest,
    bodyLimitBytes: MAX_REFS_BODY_BYTES,
    bodyExamples: {
      "By name": { names: ["shop-front", "nobody"] },
      "All of a team, only to see how many": { filter: { type: "http-poll", labels: { team: "web" } }, dryRun: true },
      "Every one that there is": { all: true },
    },
    answers: answersOf(STOP_RESULTS, STOP_COUNT),
    problems: [...BODY_PROBLEMS, "not-ready", "cross-origin"],
    itemProblems: ["observer-not-found", "not-activated", "already-deleting", "already-deleted", "batch-interrupted"],
    handle: ({ body, by }) => changeMany(lifecycle, body, { kind: "stop", force: body.force, dryRun: body.dryRun }, by),
  });

const restartMany = (lifecycle: Lifecycle) =>
  defineRoute({
    ...{
      method: "post",
      path: "/api/v1/observers/restart",
      tag: "Observers",
      operationId: "restartObservers",
      summary: "Run many anew",
    },
    access: "operator",
    body: RestartRequest,
    bodyLimitBytes: MAX_REFS_BODY_BYTES,
    bodyExamples: {
      "By name": { names: ["shop-front", "heartbeat"] },
      "All that failed of one cause": {
        filter: { status: "Failed", errorGroup: "TimeoutError: no answer within <n> ms" },
      },
    },
    answers: answersOf(RESTART_RESULTS, RESTART_COUNT),
    problems: [...BODY_PROBLEMS, "not-ready", "cross-origin"],
    itemProblems: ["observer-not-found", "not-restartable", "already-deleting", "already-deleted", "batch-interrupted"],
    handle: ({ body, by }) => changeMany(lifecycle, body, { kind: "restart", force: false, dryRun: body.dryRun }, by),
  });

async function changeMany(
  lifecycle: Lifecycle,
  { ids = [], names = [], filter = {} }: RestartRequest,
  change: BulkChange,
  by: Actor,
): Promise<Answer | Refusal> {
  const refs: ObserverRef[] = [
    ...ids.map((id) => ({ kind: "id", id }) as const),
    ...names.map((name) => ({ kind: "name", name }) as const),
  ];
  if (refs.length === 0) {
    const count = await lifecycle.changeMatching(filterOf(filter), change, by);
    return "kind" in count ? count : { status: 200, body: count };
  }
  const outcomes = await lifecycle.changeObservers(refs, change, by);
  if ("kind" in outcomes) return outcomes;
  const given: (ObserverId | string)[] = [...ids, ...names];
  const results = outcomes.map((outcome, i) => ({ ref: given[i], ...resultOf(outcome, by.requestId) }));
  return { status: 200, body: { results } };
}

function resultOf(outcome: ChangeOutcome, requestId: string) {
  if (outcome.kind === "accepted") return { status: 202, observer: outcome.observer };
  return { status: PROBLEMS[outcome.code].status, problem: toProblemDetails(outcome, requestId) };
}

const NOT_DELETED = OBSERVER_STATUSES.filter((status) => status !== "Deleted");

/** What is deleted already is not meant by "all of pool x": only who asks for it by status gets it. */
function filterOf({ status = NOT_DELETED, type, service, pool, labels, q, errorGroup }: FilterBody): ObserverFilter {
  return {
    ...{
      statuses: [status].flat(),
      type,
      pool,
      nameContains: q,
      errorGroup,
      service: service === undefined ? undefined : serviceRefOf(service),
    },
    labels: Object.entries(labels ?? {}).map(([key, value]) => ({ key, value })),
  };
}
