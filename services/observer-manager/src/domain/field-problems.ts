import { cut, type FieldProblem, issueWords, toPointer } from "@unacked/contracts";
import type { z } from "zod";

type Issue = z.core.$ZodIssue;
type Flat = { path: readonly PropertyKey[]; message: string };

/** More wrong fields are not worth reading: each is told with its whole path, so that a body of many was answered by many times as much. */
export const MAX_FIELDS = 100;

/** Of all that one call asks for together, in characters of their places and messages. */
const MAX_TOLD_CHARACTERS = 1_000_000;

/** The wrong fields of one of many that are told. */
export type ToldFields = (problems: FieldProblem[]) => FieldProblem[];

/** Of each of many, after that: so much of the place of the first, and of what is wrong there. */
const MAX_TEXT_THEN = 300;

/**
 * Bounds what one answer tells of wrong fields, however many are wrong and however long their places are: after that, of each the first, and the
 * beginning of its texts. Ten thousand of 3,000 characters were 63 MB.
 */
export function toldFields(): ToldFields {
  let left = MAX_TOLD_CHARACTERS;
  return (problems) =>
    problems.flatMap((problem, i) => {
      const { pointer = "", message } = problem;
      left -= pointer.length + message.length;
      if (left >= 0) return problem;
      return i === 0 ? { ...problem, pointer: cut(pointer, MAX_TEXT_THEN), message: cut(message, MAX_TEXT_THEN) } : [];
    });
}

/** One entry for each wrong field of a body, the first of them. */
export const bodyProblems = (issues: readonly Issue[]): FieldProblem[] =>
  pointed(issues, [], "there is no such field").map((one) => ({ ...one, message: issueWords(one.message) }));

/** One entry for each wrong param, the first of them, in the words of the service that would check them next. */
export const paramProblems = (issues: readonly Issue[]): FieldProblem[] =>
  pointed(issues, ["params"], "there is no such param");

function pointed(issues: readonly Issue[], above: readonly PropertyKey[], ofUnknown: string): FieldProblem[] {
  const flat: Flat[] = [];
  for (const issue of issues) {
    flat.push(...flatten(issue, ofUnknown, above).slice(0, MAX_FIELDS - flat.length));
    if (flat.length === MAX_FIELDS) break;
  }
  return flat.map(({ path, message }) => ({ pointer: toPointer(path), message }));
}

export const NO_SUCH_PARAMETER = "there is no such parameter";

/** One entry for each wrong parameter of a query. */
export function queryProblems(issues: readonly Issue[]): FieldProblem[] {
  return issues
    .flatMap((issue) => flatten(issue, NO_SUCH_PARAMETER))
    .map(({ path, message }) => ({ parameter: String(path[0] ?? ""), message: issueWords(message) }));
}

function flatten(issue: Issue, ofUnknown: string, above: readonly PropertyKey[] = []): Flat[] {
  const path = [...above, ...issue.path];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.slice(0, MAX_FIELDS).map((key) => ({ path: [...path, key], message: ofUnknown }));
    case "invalid_union":
      return flattenUnion(issue, path, ofUnknown);
    case "invalid_key":
    case "invalid_element":
      return issue.issues.map(({ message }) => ({
        path,
        message: issue.code === "invalid_key" ? `in the key: ${message}` : message,
      }));
    default:
      return [{ path, message: issue.message }];
  }
}

/** Takes the branch of the union that the value came furthest into: its complaints are those that help. */
function flattenUnion(issue: z.core.$ZodIssueInvalidUnion, path: readonly PropertyKey[], ofUnknown: string): Flat[] {
  const branches: readonly Issue[][] = issue.errors;
  const depthOf = (issues: Issue[]) =>
    Math.max(0, ...issues.map(({ path: below, code }) => below.length + (code === "unrecognized_keys" ? 1 : 0)));
  const deepest = branches.reduce<Issue[]>((best, next) => (depthOf(next) > depthOf(best) ? next : best), []);
  if (depthOf(deepest) > 0) return deepest.flatMap((one) => flatten(one, ofUnknown, path));
  if (issue.message !== "Invalid input") return [{ path, message: issue.message }]; // it has words of its own
  const reasons = [...new Set(branches.flat().map((one) => one.message))];
  return [{ path, message: reasons.length === 0 ? issue.message : reasons.join(", or ") }];
}
