import type { ObserverView, ProblemDetails } from "@unacked/contracts";
import type { CliFailure } from "../failure.ts";
import { problemFailure } from "./problem-failure.ts";

/** One line of a bulk call's answer. */
export type BulkResult = { observer: ObserverView } | { problem: ProblemDetails };

/** What became of one of many: the observer, or why not. */
export const outcomeOf = (result: BulkResult, name: string): ObserverView | CliFailure =>
  "observer" in result ? result.observer : problemFailure(result.problem, `observer ${name}`);
