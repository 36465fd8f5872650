import { type ObserverView, specTag } from "@unacked/contracts";
import { decodeTimelineCursor } from "../../../../operations/cursor.ts";
import type { ManagerReads } from "../../../../operations/manager-reads.ts";
import type { Lifecycle } from "../../../../operations/observers/observer-tools.ts";
import {
  CREATED,
  DELETED,
  FAILED,
  MINIMAL,
  NEW_OBSERVER,
  OBSERVER_COLUMN_PAGE,
  OBSERVER_PAGE,
  ON_DELETING,
  PAUSED,
  PAUSING,
  PROCESSING,
  RESUMED,
  RETRYING,
  RUNS,
  SENT_AGAIN,
  TIMELINE,
} from "../../openapi/examples/observer-examples.ts";
import { HttpProblem } from "../http-problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { toObserverQuery } from "./observer-query.ts";
import { specRoutes, WITH_TAG } from "./spec-routes.ts";

const OBSERVERS = "/api/v1/observers";

/** The Location header of an observer. */
const AT_LOCATION = { headers: { Location: { description: "the observer's path", example: `${OBSERVERS}/${CREATED.id}` } } };

export function observerRoutes(lifecycle: Lifecycle, reads: ManagerReads): Route[] {
  return [
    create(lifecycle),
    list(reads),
    listColumns(reads),
    show(reads),
    ...specRoutes(lifecycle),
    runs(reads),
    timeline(reads),
    remove(lifecycle),
    restart(lifecycle),
    pause(lifecycle),
    resume(lifecycle),
  ];
}

const create = (lifecycle: Lifecycle) =>
  defineRoute("createObserver")({
    tag: "Observers",
    summary: "Create an observer; accepted means it will run",
    bodyExamples: {
      "With params": NEW_OBSERVER,
      "As little as possible": MINIMAL,
      "Safe to repeat, and content to wait": {
        ...NEW_OBSERVER,
        id: CREATED.id,
        retry: { maxAttempts: 3, delaysMs: [1_000, 5_000] },
        whenFull: "queue",
      },
    },
    answers: {
      200: {
        description: "The same request was accepted before (same `id`, same body)",
        examples: { "It runs meanwhile": PROCESSING },
        ...AT_LOCATION,
      },
      201: { description: "Accepted", examples: { "Sent to the broker": CREATED }, ...AT_LOCATION },
    },
    async handle({ body, by }) {
      const outcome = await lifecycle.createObserver(body, by);
      if (outcome.kind === "problem") return outcome;
      const status = outcome.kind === "created" ? 201 : 200;
      return { status, body: outcome.observer, headers: { Location: `${OBSERVERS}/${outcome.observer.id}` } };
    },
  });

const list = (reads: ManagerReads) =>
  defineRoute("listObservers")({
    tag: "Observers",
    summary: "List observers, newest first",
    answers: { 200: { description: "One page", examples: { "One of many": OBSERVER_PAGE } } },
    async handle({ query }) {
      return { status: 200, body: await reads.listObservers(toObserverQuery(query)) };
    },
  });

const listColumns = (reads: ManagerReads) =>
  defineRoute("listObserverColumns")({
    tag: "Observers",
    summary:
      "The same list by columns, without params and with 1,000 characters of an error's message: for tables of many thousands",
    answers: { 200: { description: "One page", examples: { "One of many": OBSERVER_COLUMN_PAGE } } },
    async handle({ query }) {
      return { status: 200, body: await reads.listObserverColumns(toObserverQuery(query)) };
    },
  });

const show = (reads: ManagerReads) =>
  defineRoute("getObserver")({
    tag: "Observers",
    summary: "One observer, by name (if it is not deleted) or id",
    answers: {
      200: {
        description: "The observer",
        examples: {
          "It runs": PROCESSING,
          "It waits for its next attempt": RETRYING,
          "It was given up": FAILED,
        },
        ...WITH_TAG,
      },
    },
    async handle({ ref }) {
      const observer = await reads.findObserver(ref);
      if (observer === undefined) return { kind: "problem", code: "observer-not-found" };
      return { status: 200, body: observer, headers: { ETag: specTag(observer) } };
    },
  });

const runs = (reads: ManagerReads) =>
  defineRoute("listRuns")({
    tag: "Observers",
    summary: "Its runs, newest first (at most 1000)",
    answers: { 200: { description: "The runs", examples: { "Its service died, another took over": RUNS } } },
    async handle({ ref }) {
      const found = await reads.listRuns(ref);
      return found === undefined ? { kind: "problem", code: "observer-not-found" } : { status: 200, body: found };
    },
  });

const timeline = (reads: ManagerReads) =>
  defineRoute("getTimeline")({
    tag: "Observers",
    summary: "What happened to it, newest first",
    description:
      "Who created it and asked for what, where and when each run started, which attempts failed and why, when it fell silent, and why each run " +
      "ended: by whose fault, where that is known. As far back as runs and the audit trail are kept (RETENTION_DAYS). Of a run the newest 20 steps are " +
      "kept. What was asked of many by one call stands with the first 10 of them alone.",
    answers: { 200: { description: "One page", examples: { "Its service died, another took over": TIMELINE } } },
    async handle({ ref, query: { limit, cursor } }) {
      const after = cursor === undefined ? undefined : decodeTimelineCursor(cursor);
      if (cursor !== undefined && after === undefined)
        throw new HttpProblem({
          code: "invalid-query",
          errors: [{ parameter: "cursor", message: "not a cursor of this list" }],
        });
      const found = await reads.timeline(ref, { limit, after });
      return found === undefined ? { kind: "problem", code: "observer-not-found" } : { status: 200, body: found };
    },
  });

const remove = (lifecycle: Lifecycle) =>
  defineRoute("deleteObserver")({
    tag: "Observers",
    summary: "Stop an observer for good",
    answers: {
      202: {
        description: "It is being stopped, or was stopped at once",
        examples: {
          "A service is told to stop it": ON_DELETING,
          "Nobody had it, with force": DELETED,
        },
      },
    },
    async handle({ ref, query, by }) {
      const outcome = await lifecycle.deleteObserver(ref, { force: query.force }, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.observer };
    },
  });

const restart = (lifecycle: Lifecycle) =>
  defineRoute("restartObserver")({
    tag: "Observers",
    summary: "Run it again, from its checkpoint if it has saved one",
    answers: {
      202: {
        description: "It will run again",
        examples: {
          "It starts over in place": PROCESSING,
          "It had failed, and is sent again": SENT_AGAIN,
        },
      },
    },
    async handle({ ref, by }) {
      const outcome = await lifecycle.restartObserver(ref, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.observer };
    },
  });

const pause = (lifecycle: Lifecycle) =>
  defineRoute("pauseObserver")({
    tag: "Observers",
    summary: "End its run and keep it; nothing of it runs until it is resumed",
    answers: {
      200: { description: "It is Paused", examples: { "It was paused before": PAUSED } },
      202: { description: "It is being paused", examples: { "A service is told to stop it": PAUSING } },
    },
    async handle({ ref, by }) {
      const outcome = await lifecycle.pauseObserver(ref, by);
      if (outcome.kind === "problem") return outcome;
      return { status: statusOf(outcome.observer), body: outcome.observer };
    },
  });

/** The status of a pause: 200 if there is nothing left to wait for, else 202. */
export const statusOf = ({ status }: ObserverView): 200 | 202 => (status === "Paused" ? 200 : 202);

const resume = (lifecycle: Lifecycle) =>
  defineRoute("resumeObserver")({
    tag: "Observers",
    summary: "Run a paused one again, from its checkpoint if it has saved one, or take back a pause that is under way",
    answers: {
      202: {
        description: "It will run again",
        examples: { "Sent to the broker": RESUMED, "It was about to be paused, and goes on": PROCESSING },
      },
    },
    async handle({ ref, query, by }) {
      const outcome = await lifecycle.resumeObserver(ref, query, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.observer };
    },
  });
