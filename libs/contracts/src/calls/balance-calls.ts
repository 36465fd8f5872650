import { BalanceView, RebalanceRequest } from "../rest/balance.ts";
import { BODY_PROBLEMS, type Call } from "./call.ts";

/** Calls about how observers are spread over the services of a pool. */
export const BALANCE_CALLS = {
  getBalance: { access: "viewer", answers: { 200: BalanceView }, problems: ["pool-not-found"] },
  rebalance: {
    access: "admin",
    body: RebalanceRequest,
    answers: { 200: BalanceView, 202: BalanceView },
    problems: [...BODY_PROBLEMS, "pool-not-found", "cross-origin"],
  },
  cancelRebalance: {
    access: "admin",
    answers: { 200: BalanceView },
    problems: ["pool-not-found", "not-ready", "cross-origin"],
  },
} as const satisfies Record<string, Call>;
