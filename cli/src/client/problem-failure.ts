import { type FieldProblem, ProblemDetails } from "@unacked/contracts";
import { z } from "zod";
import { CliFailure, type ExitKind } from "../failure.ts";

/** As the contracts have it, but a newer manager may know codes that we do not: they are told all the same. */
const AnyProblem = ProblemDetails.extend({ code: z.string() });
export type AnyProblem = z.infer<typeof AnyProblem>;

export const parseProblem = (body: unknown): AnyProblem | undefined => AnyProblem.safeParse(body).data;

/** Others are `failed`. Of the unreachable nothing is wrong with what was asked: try again later. */
const EXIT_KINDS: Partial<Record<string, ExitKind>> = {
  "not-ready": "unreachable",
  "database-unavailable": "unreachable",
  "identity-provider-unavailable": "unreachable",
  "logs-unavailable": "unreachable",
  unauthorized: "notAllowed",
  forbidden: "notAllowed",
};

/** A problem as one failure: what and why in a line, the fields below it, and the remedy. `about` names what it was about. */
export function problemFailure(problem: AnyProblem, about?: string): CliFailure {
  const subject = about === undefined ? "" : `${about}: `;
  // Many details are the title again, only longer or the very same.
  const detail = problem.detail === problem.title ? "" : `: ${problem.detail}`;
  return new CliFailure(EXIT_KINDS[problem.code] ?? "failed", `${subject}${problem.title}${detail}`, {
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

const GIVE_A_TOKEN =
  "Give a token: --token, UNACKED_TOKEN, or for good: unacked config set-context NAME --url URL --token - (read from standard input). Whoever runs the manager makes one: unacked token create";

function remedyOf({ code, remedy, requestId, retryAfterS }: AnyProblem): string {
  if (code === "unauthorized") return GIVE_A_TOKEN;
  if (code === "internal-error") return `${remedy} It is ${requestId}.`;
  if (retryAfterS !== undefined) return `${remedy} (Retry-After: ${retryAfterS} s)`;
  // They are told above already.
  return code === "invalid-body" || code === "invalid-query" ? "" : remedy;
}
