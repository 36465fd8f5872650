import type { BalanceTools } from "../../../../operations/balance/balance-desk.ts";
import { BALANCE, BALANCING, CANCELLED_BALANCE } from "../../openapi/examples/balance-examples.ts";
import { PROCESSING } from "../../openapi/examples/observer-examples.ts";
import { defineRoute, type Route } from "../route.ts";

/** Calls about how observers are spread over services, and about moving them. */
export function balanceRoutes(tools: BalanceTools): Route[] {
  return [show(tools), rebalance(tools), cancel(tools), move(tools)];
}

const show = (tools: BalanceTools) =>
  defineRoute("getBalance")({
    tag: "Services",
    summary: "How the observers of a pool lie on its services, and what would be moved",
    description:
      "Each service's share is in proportion to its workers. A service that drains, is cordoned, is silent or full keeps what it has, " +
      "and is given nothing.",
    answers: { 200: { description: "As the books have it", examples: { "One has too many": BALANCE } } },
    async handle({ pool }) {
      const outcome = await tools.getBalance(pool);
      return "kind" in outcome ? outcome : { status: 200, body: outcome };
    },
  });

const rebalance = (tools: BalanceTools) =>
  defineRoute("rebalance")({
    tag: "Services",
    summary: "Spread the observers of a pool over its services",
    description:
      "A few every five seconds (1 % of all, at least 5) are stopped where there are too many, and run elsewhere at once; none is moved " +
      "twice in ten minutes. It goes on whichever manager dies, and waits while observers are on their way. One that is under way goes on.",
    bodyExamples: { "Only say what would be moved": { dryRun: true }, "Do it": {} },
    answers: {
      200: { description: "With `dryRun`, or there is nothing to move", examples: { "What would be moved": BALANCE } },
      202: { description: "It is under way", examples: { "It has begun": BALANCING } },
    },
    async handle({ pool, body, by }) {
      const outcome = await tools.rebalance(pool, body, by);
      if ("kind" in outcome) return outcome;
      return outcome.begun ? { status: 202, body: outcome.balance } : { status: 200, body: outcome.balance };
    },
  });

const cancel = (tools: BalanceTools) =>
  defineRoute("cancelRebalance")({
    tag: "Services",
    summary: "End the rebalance of a pool that is under way",
    description: "What has been told to move goes all the same. Safe to repeat.",
    answers: { 200: { description: "As it stands now", examples: { "It was under way": CANCELLED_BALANCE } } },
    async handle({ pool, by }) {
      const outcome = await tools.cancelRebalance(pool, by);
      return "kind" in outcome ? outcome : { status: 200, body: outcome };
    },
  });

const move = (tools: BalanceTools) =>
  defineRoute("moveObserver")({
    tag: "Observers",
    summary: "Run it on another service",
    description:
      "Its run is stopped, and it goes to any other service of its pool that has a worker free: the broker chooses. The service where it " +
      "ran takes nothing for a moment. Where it begins again in its place before the service has heard of this, it stays: ask again.",
    answers: { 202: { description: "It was told to move", examples: { "It runs still": PROCESSING } } },
    async handle({ ref, by }) {
      const outcome = await tools.moveObserver(ref, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.observer };
    },
  });
