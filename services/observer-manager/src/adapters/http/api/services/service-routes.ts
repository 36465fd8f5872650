import type { ManagerReads } from "../../../../operations/manager-reads.ts";
import type { ServiceTools } from "../../../../operations/services/service-desk.ts";
import {
  CORDONED_SERVICE,
  DRAINED_SERVICE,
  DRAINING_SERVICE,
  KEPT_SERVICE,
  RELOADED_SERVICE,
  RELOADING_SERVICE,
  SERVICE,
  SERVICES,
  TYPES,
} from "../../openapi/examples/service-examples.ts";
import { defineRoute, type Route } from "../route.ts";

/** Calls about services, and the orders that they take. */
export function serviceRoutes(reads: ManagerReads, tools: ServiceTools): Route[] {
  return [services(reads), drain(tools), cordon(tools), uncordon(tools), reload(tools)];
}

const services = (reads: ManagerReads) =>
  defineRoute("listServices")({
    tag: "Services",
    summary: "Observer services that live",
    answers: { 200: { description: "The services", examples: { "One service": SERVICES } } },
    async handle({ query }) {
      return { status: 200, body: await reads.listServices({ all: query.all }) };
    },
  });

const drain = (tools: ServiceTools) =>
  defineRoute("drainService")({
    tag: "Services",
    summary: "Let a service take no more work and give back what it runs",
    description:
      "Each observer is stopped first and runs elsewhere where a worker is free; otherwise it waits for one. The service stays, " +
      "idle, for as long as its process lives, also when it reconnects: it is `draining`, and `drained` when nothing is left " +
      "on it. The next process takes work again. Safe to repeat.",
    answers: {
      202: {
        description: "It drains, or will as soon as it hears of it",
        examples: {
          "It was asked just now": DRAINING_SERVICE,
          "Nothing is left on it": DRAINED_SERVICE,
        },
      },
    },
    async handle({ service, by }) {
      const outcome = await tools.drainService(service, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.service };
    },
  });

const cordon = (tools: ServiceTools) =>
  defineRoute("cordonService")({
    tag: "Services",
    summary: "Let a service take no more work, and run on what it runs",
    description:
      "For as long as its process lives, also when it reconnects; the next process takes work again. What others lose goes elsewhere. " +
      "A service that drains stays as it is. Safe to repeat.",
    answers: {
      202: {
        description: "It takes nothing more, or will as soon as it hears of it",
        examples: { "It is cordoned": CORDONED_SERVICE },
      },
    },
    async handle({ service, by }) {
      const outcome = await tools.cordonService(service, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.service };
    },
  });

const uncordon = (tools: ServiceTools) =>
  defineRoute("uncordonService")({
    tag: "Services",
    summary: "Let a service take work again, after a cordon or a drain",
    description: "What it has given back stays where it is; a rebalance brings the service its share. Safe to repeat.",
    answers: {
      202: { description: "It takes work, or will as soon as it hears of it", examples: { "It takes work again": SERVICE } },
    },
    async handle({ service, by }) {
      const outcome = await tools.uncordonService(service, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.service };
    },
  });

const reload = (tools: ServiceTools) =>
  defineRoute("reloadService")({
    tag: "Services",
    summary: "Let a service load its folder again, without a stop",
    description:
      "It does what it does at SIGHUP: a process of its own loads the folder first, and if a file that loaded before does not, " +
      "the old code stays. Observers of changed types begin again by the new code, in place, one after the other; all others and " +
      "tasks stay where they are. What becomes of it stands in `reload.answer` of the service, with the `reload.id` of this answer: " +
      "GET /api/v1/services, or the stream of changes. It is asked for again until it is told, and a folder is loaded once for an id. " +
      "Who asks while one is under way is answered by one more after it.",
    answers: {
      202: {
        description: "It loads its folder again, or will as soon as it hears of it",
        examples: {
          "It was asked just now": RELOADING_SERVICE,
          "As it is shown when it has loaded it": RELOADED_SERVICE,
          "As it is shown when a file does not load": KEPT_SERVICE,
        },
      },
    },
    async handle({ service, by }) {
      const outcome = await tools.reloadService(service, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.service };
    },
  });

export const typeRoute = (reads: ManagerReads) =>
  defineRoute("listTypes")({
    tag: "Services",
    summary: "Observer types that living services have, with the JSON Schema of their params",
    answers: { 200: { description: "The types, by name", examples: { "One type": TYPES } } },
    handle: async () => ({ status: 200, body: await reads.listTypes() }),
  });
