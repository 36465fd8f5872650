import { type FieldProblem, toPointer } from "@unacked/contracts";
import type { z } from "zod";

type Issue = z.core.$ZodIssue;
type Flat = { path: readonly PropertyKey[]; message: string };

/** One entry for each wrong field of a body. */
export function bodyProblems(issues: readonly Issue[]): FieldProblem[] {
  return issues.flatMap((issue) => flatten(issue)).map(({ path, message }) => ({ pointer: toPointer(path), message }));
}

/** One entry for each wrong parameter of a query. */
export function queryProblems(issues: readonly Issue[]): FieldProblem[] {
  return issues
    .flatMap((issue) => flatten(issue))
    .map(({ path, message }) => ({ parameter: String(path[0] ?? ""), message }));
}

function flatten(issue: Issue, above: readonly PropertyKey[] = []): Flat[] {
  const path = [...above, ...issue.path];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({ path: [...path, key], message: "not known here" }));
    case "invalid_union":
      return flattenUnion(issue.errors, path, issue.message);
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

/** Of a union's branches, the one that the value came furthest into: its complaints are those that help. */
function flattenUnion(branches: readonly Issue[][], path: readonly PropertyKey[], message: string): Flat[] {
  const depthOf = (issues: Issue[]) =>
    Math.max(0, ...issues.map((issue) => issue.path.length + (issue.code === "unrecognized_keys" ? 1 : 0)));
  const deepest = branches.reduce<Issue[]>((best, next) => (depthOf(next) > depthOf(best) ? next : best), []);
  if (depthOf(deepest) > 0) return deepest.flatMap((issue) => flatten(issue, path));
  const reasons = [...new Set(branches.flat().map((issue) => issue.message))];
  return [{ path, message: reasons.length === 0 ? message : reasons.join(", or ") }];
}
