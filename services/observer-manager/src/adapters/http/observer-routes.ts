import { CreateObserver, ObserverPage, ObserverView, RunList } from "@unacked/contracts";
import type { Lifecycle, ManagerReads } from "../../flows/manager-api.ts";
import { answer } from "./call-description.ts";
import {
  CREATED,
  DELETED,
  FAILED,
  MINIMAL,
  NEW_OBSERVER,
  OBSERVER_PAGE,
  ON_DELETING,
  PROCESSING,
  RETRYING,
  RUNS,
  SENT_ANEW,
} from "./examples/observer-examples.ts";
import { DeleteQuery, ObserverListQuery, toObserverQuery } from "./observer-query.ts";
import { BODY_PROBLEMS, defineRoute, type Route } from "./route.ts";

const OBSERVERS = "/api/v1/observers";
const ONE = `${OBSERVERS}/{ref}`;

/** Beside the observer. */
const AT_LOCATION = { headers: { Location: { description: "the observer's path", example: `${OBSERVERS}/${CREATED.id}` } } };

export function observerRoutes(lifecycle: Lifecycle, reads: ManagerReads): Route[] {
  return [create(lifecycle), list(reads), show(reads), runs(reads), remove(lifecycle), restart(lifecycle)];
}

const create = (lifecycle: Lifecycle) =>
  defineRoute({
    ...{
      method: "post",
      path: OBSERVERS,
      tag: "Observers",
      operationId: "createObserver",
      summary: "Create an observer; accepted means it will run",
    },
    access: "operator",
    body: CreateObserver,
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
      200: answer(
        "The same request was accepted before (same `id`, same body)",
        ObserverView,
        { "It runs meanwhile": PROCESSING },
        AT_LOCATION,
      ),
      201: answer("Accepted", ObserverView, { "Sent to the broker": CREATED }, AT_LOCATION),
    },
    problems: [...BODY_PROBLEMS, "name-taken", "id-taken", "unknown-type", "no-free-worker", "not-ready", "cross-origin"],
    async handle({ body, by }) {
      const outcome = await lifecycle.createObserver(body, by);
      if (outcome.kind === "problem") return outcome;
      const status = outcome.kind === "created" ? 201 : 200;
      return { status, body: outcome.observer, headers: { Location: `${OBSERVERS}/${outcome.observer.id}` } };
    },
  });

const list = (reads: ManagerReads) =>
  defineRoute({
    ...{
      method: "get",
      path: OBSERVERS,
      tag: "Observers",
      operationId: "listObservers",
      summary: "List observers, newest first",
    },
    access: "viewer",
    query: ObserverListQuery,
    answers: { 200: answer("One page", ObserverPage, { "One of many": OBSERVER_PAGE }) },
    problems: [],
    async handle({ query }) {
      return { status: 200, body: await reads.listObservers(toObserverQuery(query)) };
    },
  });

const show = (reads: ManagerReads) =>
  defineRoute({
    ...{
      method: "get",
      path: ONE,
      tag: "Observers",
      operationId: "getObserver",
      summary: "One observer, by name (if it is not deleted) or id",
    },
    access: "viewer",
    answers: {
      200: answer("The observer", ObserverView, {
        "It runs": PROCESSING,
        "It waits for its next attempt": RETRYING,
        "It was given up": FAILED,
      }),
    },
    problems: ["observer-not-found"],
    async handle({ ref }) {
      const observer = await reads.findObserver(ref);
      return observer === undefined ? { kind: "problem", code: "observer-not-found" } : { status: 200, body: observer };
    },
  });

const runs = (reads: ManagerReads) =>
  defineRoute({
    ...{
      method: "get",
      path: `${ONE}/runs`,
      tag: "Observers",
      operationId: "listRuns",
      summary: "Its runs, newest first (at most 1000)",
    },
    access: "viewer",
    answers: { 200: answer("The runs", RunList, { "Its service died, another took over": RUNS }) },
    problems: ["observer-not-found"],
    async handle({ ref }) {
      const found = await reads.listRuns(ref);
      return found === undefined ? { kind: "problem", code: "observer-not-found" } : { status: 200, body: found };
    },
  });

const remove = (lifecycle: Lifecycle) =>
  defineRoute({
    ...{
      method: "delete",
      path: ONE,
      tag: "Observers",
      operationId: "deleteObserver",
      summary: "Stop an observer for good",
    },
    access: "operator",
    query: DeleteQuery,
    answers: {
      202: answer("It is being stopped, or was stopped at once", ObserverView, {
        "A service is told to stop it": ON_DELETING,
        "Nobody had it, with force": DELETED,
      }),
    },
    problems: ["observer-not-found", "not-activated", "already-deleting", "already-deleted", "not-ready", "cross-origin"],
    async handle({ ref, query, by }) {
      const outcome = await lifecycle.deleteObserver(ref, { force: query.force }, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.observer };
    },
  });

const restart = (lifecycle: Lifecycle) =>
  defineRoute({
    ...{ method: "post", path: `${ONE}/restart`, tag: "Observers", operationId: "restartObserver", summary: "Run it anew" },
    access: "operator",
    answers: {
      202: answer("It will run anew", ObserverView, {
        "It runs anew in place": PROCESSING,
        "It had failed, and is sent again": SENT_ANEW,
      }),
    },
    problems: ["observer-not-found", "not-restartable", "already-deleting", "already-deleted", "not-ready", "cross-origin"],
    async handle({ ref, by }) {
      const outcome = await lifecycle.restartObserver(ref, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.observer };
    },
  });
