import { type BulkCount, type BulkResults, LIVING_STATUSES, type RestartRequest } from "@unacked/contracts";
import type { Actor } from "../../../../domain/access/identity.ts";
import type { BulkChange, ChangeOutcome, Lifecycle, ObserverRef } from "../../../../operations/observers/observer-tools.ts";
import { refusedOne } from "../../../../operations/problem-details.ts";
import type { Refusal } from "../../../../operations/refusal.ts";
import {
  PAUSE_COUNT,
  PAUSE_RESULTS,
  RESTART_COUNT,
  RESTART_RESULTS,
  RESUME_COUNT,
  RESUME_RESULTS,
  STOP_COUNT,
  STOP_RESULTS,
} from "../../openapi/examples/bulk-examples.ts";
import { OBSERVER_ID } from "../../openapi/examples/observer-examples.ts";
import { defineRoute, type Route } from "../route.ts";
import { statusOf } from "./observer-routes.ts";

/**
 * Calls that stop, restart, pause or resume many: some by ids and names (of ids, those that match), answered one by one, or all that match,
 * counted.
 */
export function bulkRoutes(lifecycle: Lifecycle): Route[] {
  return [stopMany(lifecycle), restartMany(lifecycle), pauseMany(lifecycle), resumeMany(lifecycle)];
}

const answersOf = (results: BulkResults, count: BulkCount) =>
  ({
    200: {
      description:
        "Of ids and names: what became of each, in the order given; of ids with a filter, of those alone that match. Of a filter alone: how many",
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
      "One that was Failed as it was listed, unless it is not any more": {
        ids: [OBSERVER_ID],
        filter: { status: "Failed" },
      },
      "Every one that there is": { all: true },
    },
    answers: answersOf(STOP_RESULTS, STOP_COUNT),
    handle: ({ body, by }) => changeMany(lifecycle, body, { kind: "stop", force: body.force, dryRun: body.dryRun }, by),
  });

const restartMany = (lifecycle: Lifecycle) =>
  defineRoute("restartObservers")({
    tag: "Observers",
    summary: "Run many again, each from its checkpoint if it has saved one",
    bodyExamples: {
      "By name": { names: ["shop-front", "heartbeat"] },
      "All that failed of one cause": {
        filter: { status: "Failed", errorGroup: "TimeoutError: no answer within <n> ms" },
      },
    },
    answers: answersOf(RESTART_RESULTS, RESTART_COUNT),
    handle: ({ body, by }) => changeMany(lifecycle, body, { kind: "restart", force: false, dryRun: body.dryRun }, by),
  });

const pauseMany = (lifecycle: Lifecycle) =>
  defineRoute("pauseObservers")({
    tag: "Observers",
    summary: "Pause many",
    bodyExamples: {
      "By name": { names: ["shop-front", "heartbeat"] },
      "All that watch a system under maintenance": { filter: { labels: { system: "warehouse" } } },
    },
    answers: answersOf(PAUSE_RESULTS, PAUSE_COUNT),
    handle: ({ body, by }) => changeMany(lifecycle, body, { kind: "pause", force: false, dryRun: body.dryRun }, by),
  });

const resumeMany = (lifecycle: Lifecycle) =>
  defineRoute("resumeObservers")({
    tag: "Observers",
    summary: "Resume many",
    bodyExamples: {
      "By name": { names: ["shop-front", "heartbeat"] },
      "All that are paused, content to wait for workers": { filter: { status: "Paused" }, whenFull: "queue" },
    },
    answers: answersOf(RESUME_RESULTS, RESUME_COUNT),
    handle: ({ body: { whenFull, ...body }, by }) =>
      changeMany(lifecycle, body, { kind: "resume", force: false, dryRun: body.dryRun, whenFull }, by),
  });

async function changeMany(
  lifecycle: Lifecycle,
  { ids = [], names = [], filter }: RestartRequest,
  change: BulkChange,
  by: Actor,
): Promise<{ status: 200; body: BulkResults | BulkCount } | Refusal> {
  const refs: ObserverRef[] = [
    ...ids.map((id) => ({ kind: "id", id }) as const),
    ...names.map((name) => ({ kind: "name", name }) as const),
  ];
  // "All of pool x" leaves out deleted ones. Only a filter by status finds them.
  const among = { status: [...LIVING_STATUSES], ...filter };
  if (refs.length === 0) {
    const count = await lifecycle.changeMatching(among, change, by);
    return "kind" in count ? count : { status: 200, body: count };
  }
  const outcomes = await lifecycle.changeObservers(refs, filter && among, change, by);
  if ("kind" in outcomes) return outcomes;
  const given: string[] = [...ids, ...names];
  const results = outcomes.flatMap((outcome, i) =>
    outcome === "left-alone" ? [] : [{ ref: given[i] ?? "", ...resultOf(outcome, change, by.requestId) }],
  );
  return { status: 200, body: { results } };
}

function resultOf(outcome: ChangeOutcome, { kind }: BulkChange, requestId: string) {
  if (outcome.kind === "accepted") {
    const { observer } = outcome;
    return { status: kind === "pause" ? statusOf(observer) : 202, observer };
  }
  return refusedOne(outcome, requestId);
}
