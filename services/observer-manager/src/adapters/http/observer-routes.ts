import { CreateObserver, ObserverPage, ObserverView, RunList } from "@unacked/contracts";
import type { Lifecycle, ManagerReads } from "../../flows/manager-api.ts";
import { DeleteQuery, ObserverListQuery, toObserverQuery } from "./observer-query.ts";
import { BODY_PROBLEMS, defineRoute, type Route } from "./route.ts";

const OBSERVERS = "/api/v1/observers";
const ONE = `${OBSERVERS}/{ref}`;

export function observerRoutes(lifecycle: Lifecycle, reads: ManagerReads): Route[] {
  return [create(lifecycle), list(reads), show(reads), runs(reads), remove(lifecycle), restart(lifecycle)];
}

const create = (lifecycle: Lifecycle) =>
  defineRoute({
    ...{
      method: "post",
      path: OBSERVERS,
      operationId: "createObserver",
      summary: "Create an observer; accepted means it will run",
    },
    body: CreateObserver,
    answers: {
      200: { description: "The same request was accepted before (same `id`, same body)", schema: ObserverView },
      201: { description: "Accepted", schema: ObserverView },
    },
    problems: [...BODY_PROBLEMS, "name-taken", "id-taken", "unknown-type", "no-free-worker", "not-ready", "cross-origin"],
    async handle({ body }) {
      const outcome = await lifecycle.createObserver(body);
      if (outcome.kind === "problem") return outcome;
      const status = outcome.kind === "created" ? 201 : 200;
      return { status, body: outcome.observer, headers: { Location: `${OBSERVERS}/${outcome.observer.id}` } };
    },
  });

const list = (reads: ManagerReads) =>
  defineRoute({
    ...{ method: "get", path: OBSERVERS, operationId: "listObservers", summary: "List observers, newest first" },
    query: ObserverListQuery,
    answers: { 200: { description: "One page", schema: ObserverPage } },
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
      operationId: "getObserver",
      summary: "One observer, by name (if it is not deleted) or id",
    },
    answers: { 200: { description: "The observer", schema: ObserverView } },
    problems: ["observer-not-found"],
    async handle({ ref }) {
      const observer = await reads.findObserver(ref);
      return observer === undefined ? { kind: "problem", code: "observer-not-found" } : { status: 200, body: observer };
    },
  });

const runs = (reads: ManagerReads) =>
  defineRoute({
    ...{ method: "get", path: `${ONE}/runs`, operationId: "listRuns", summary: "Its runs, newest first (at most 1000)" },
    answers: { 200: { description: "The runs", schema: RunList } },
    problems: ["observer-not-found"],
    async handle({ ref }) {
      const found = await reads.listRuns(ref);
      return found === undefined ? { kind: "problem", code: "observer-not-found" } : { status: 200, body: found };
    },
  });

const remove = (lifecycle: Lifecycle) =>
  defineRoute({
    ...{ method: "delete", path: ONE, operationId: "deleteObserver", summary: "Stop an observer for good" },
    query: DeleteQuery,
    answers: { 202: { description: "It is being stopped, or was stopped at once", schema: ObserverView } },
    problems: ["observer-not-found", "not-activated", "already-deleting", "already-deleted", "not-ready", "cross-origin"],
    async handle({ ref, query }) {
      const outcome = await lifecycle.deleteObserver(ref, { force: query.force });
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.observer };
    },
  });

const restart = (lifecycle: Lifecycle) =>
  defineRoute({
    ...{ method: "post", path: `${ONE}/restart`, operationId: "restartObserver", summary: "Run it anew" },
    answers: { 202: { description: "It will run anew", schema: ObserverView } },
    problems: ["observer-not-found", "not-restartable", "already-deleting", "already-deleted", "not-ready", "cross-origin"],
    async handle({ ref }) {
      const outcome = await lifecycle.restartObserver(ref);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.observer };
    },
  });
