import type { ProblemDetails } from "@unacked/contracts";

/** So many refusals, and so many wrong fields of one, are told among the errors. */
const MAX_TOLD = 5;

/** What a problem says, with its first wrong fields. */
export function wordsOf({ detail, errors = [] }: ProblemDetails): string {
  const places = errors.slice(0, MAX_TOLD).map(({ pointer = "", message }) => `${pointer}: ${message}`);
  return [detail, ...places].join("; ");
}

/**
 * What an answer refuses, in words for the errors. Undefined: nothing. That a key is taken is none: who asks with one, and does not listen, wants
 * one task of it, which is there.
 */
export function refusedIn(json: string): string | undefined {
  const answer = JSON.parse(json) as ProblemDetails | { results: readonly ({ problem: ProblemDetails } | object)[] };
  if (!("results" in answer)) return wordsOf(answer);
  const refused = answer.results.flatMap((one, i) =>
    "problem" in one && one.problem.code !== "key-taken" ? [`/${i}: ${one.problem.code}: ${wordsOf(one.problem)}`] : [],
  );
  if (refused.length === 0) return undefined;
  const first = refused.slice(0, MAX_TOLD).join("; ");
  return `${refused.length} of ${answer.results.length} were refused; ${first}`;
}
