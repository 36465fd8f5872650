import { type FieldProblem, ProblemDetails } from "@unacked/contracts";
import { z } from "zod";
import { CliFailure } from "../failure.ts";

/** As the contracts have it, but a newer manager may know codes that we do not: they are told all the same. */
const AnyProblem = ProblemDetails.extend({ code: z.string() });
export type AnyProblem = z.infer<typeof AnyProblem>;

export const parseProblem = (body: unknown): AnyProblem | undefined => AnyProblem.safeParse(body).data;

/** Try again later: nothing is wrong with what was asked. */
const NOT_NOW = new Set(["not-ready", "database-unavailable"]);

/** A problem as one failure: what and why in a line, the fields below it, and the remedy. `about` names what it was about. */
export function problemFailure(problem: AnyProblem, about?: string): CliFailure {
  const subject = about === undefined ? "" : `${about}: `;
  // Many details are the title again, only longer or the very same.
  const detail = problem.detail === problem.title ? "" : `: ${problem.detail}`;
  return new CliFailure(NOT_NOW.has(problem.code) ? "unreachable" : "failed", `${subject}${problem.title}${detail}`, {
    code: problem.code,
    details: [...(problem.errors ?? []).map(fieldLine), ...knownTypesLine(problem.knownTypes)],
    remedy: remedyOf(problem),
  });
}

function fieldLine({ pointer, parameter, message }: FieldProblem): string {
  const place = parameter ?? (pointer === "" ? "the whole body" : pointer);
  return place === undefined ? message : `${place}: ${message}`;
}

const knownTypesLine = (types: string[] | undefined): string[] =>
  types === undefined ? [] : [types.length === 0 ? "no type is known" : `known types: ${types.join(", ")}`];

function remedyOf({ code, remedy, requestId, retryAfterS }: AnyProblem): string {
  if (code === "internal-error") return `${remedy} It is ${requestId}.`;
  if (retryAfterS !== undefined) return `${remedy} (Retry-After: ${retryAfterS} s)`;
  // They are told above already.
  return code === "invalid-body" || code === "invalid-query" ? "" : remedy;
}
