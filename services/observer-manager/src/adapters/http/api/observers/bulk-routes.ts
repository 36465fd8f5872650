import { type BulkCount, type BulkResults, LIVING_STATUSES, PROBLEMS, type RestartRequest } from "@unacked/contracts";
import type { Actor } from "../../../../domain/access/identity.ts";
import type { BulkChange, ChangeOutcome, Lifecycle, ObserverRef } from "../../../../operations/observers/observer-tools.ts";
import { toProblemDetails } from "../../../../operations/problem-details.ts";
import type { Refusal } from "../../../../operations/refusal.ts";
import { RESTART_COUNT, RESTART_RESULTS, STOP_COUNT, STOP_RESULTS } from "../../openapi/examples/bulk-examples.ts";
import { defineRoute, type Route } from "../route.ts";

/** Stop or restart many: some by ids and names, answered one by one, or all that match, counted. */
export function bulkRoutes(lifecycle: Lifecycle): Route[] {
  return [stopMany(lifecycle), restartMany(lifecycle)];
}

const answersOf = (results: BulkResults, count: BulkCount) =>
  ({
    200: {
      description: "Of ids and names: what became of each, in the order given. Of a filter: how many",
      examples: { "Of names": results, "Of a filter": count },
    },
  }) as const;

const stopMany = (lifecycle: Lifecycle) =>
  defineRoute("stopObservers")({
    tag: "Observers",
    summary: "Stop many for good",
    bodyExamples: {
      "By name": { names: ["shop-front", "nobody"] },
      "All of a team, only to see how many": { filter: { type: "http-poll", labels: { team: "web" } }, dryRun: true },
      "Every one that there is": { all: true },
    },
    answers: answersOf(STOP_RESULTS, STOP_COUNT),
    handle: ({ body, by }) => changeMany(lifecycle, body, { kind: "stop", force: body.force, dryRun: body.dryRun }, by),
  });

const restartMany = (lifecycle: Lifecycle) =>
  defineRoute("restartObservers")({
    tag: "Observers",
    summary: "Run many again from the start",
    bodyExamples: {
      "By name": { names: ["shop-front", "heartbeat"] },
      "All that failed of one cause": {
        filter: { status: "Failed", errorGroup: "TimeoutError: no answer within <n> ms" },
      },
    },
    answers: answersOf(RESTART_RESULTS, RESTART_COUNT),
    handle: ({ body, by }) => changeMany(lifecycle, body, { kind: "restart", force: false, dryRun: body.dryRun }, by),
  });

async function changeMany(
  lifecycle: Lifecycle,
  { ids = [], names = [], filter = {} }: RestartRequest,
  change: BulkChange,
  by: Actor,
): Promise<{ status: 200; body: BulkResults | BulkCount } | Refusal> {
  const refs: ObserverRef[] = [
    ...ids.map((id) => ({ kind: "id", id }) as const),
    ...names.map((name) => ({ kind: "name", name }) as const),
  ];
  // What is deleted already is not meant by "all of pool x": only who asks for it by status gets it.
  if (refs.length === 0) {
    const count = await lifecycle.changeMatching({ status: [...LIVING_STATUSES], ...filter }, change, by);
    return "kind" in count ? count : { status: 200, body: count };
  }
  const outcomes = await lifecycle.changeObservers(refs, change, by);
  if ("kind" in outcomes) return outcomes;
  const given: string[] = [...ids, ...names];
  const results = outcomes.map((outcome, i) => ({ ref: given[i] ?? "", ...resultOf(outcome, by.requestId) }));
  return { status: 200, body: { results } };
}

function resultOf(outcome: ChangeOutcome, requestId: string) {
  if (outcome.kind === "accepted") return { status: 202, observer: outcome.observer };
  return { status: PROBLEMS[outcome.code].status, problem: toProblemDetails(outcome, requestId) };
}
