import { PROBLEMS, type ProblemCode, type ProblemDetails, problemType } from "@unacked/contracts";
import type { Response } from "express";
import type { Refusal } from "../../flows/manager-api.ts";

/** Thrown within the HTTP side to answer with a problem of the catalogue. */
export class HttpProblem extends Error {
  readonly code: ProblemCode;
  readonly refusal: Refusal;

  constructor(refusal: Omit<Refusal, "kind">) {
    super(refusal.detail ?? PROBLEMS[refusal.code].title);
    this.name = "HttpProblem";
    this.code = refusal.code;
    this.refusal = { kind: "problem", ...refusal };
  }
}

/** RFC 6750, 3: with an error where a token was sent, without one where none was. */
const challengeOf = ({ detail }: Refusal): string =>
  `Bearer realm="unacked"${detail === undefined ? "" : ', error="invalid_token"'}`;

/** When a client should come back, in s, for problems that pass by themselves. */
const RETRY_AFTER_S: Partial<Record<ProblemCode, number>> = {
  "no-free-worker": 5,
  "not-ready": 1,
  "logs-unavailable": 2,
  "database-unavailable": 2,
  "batch-interrupted": 2,
  "identity-provider-unavailable": 5,
  "too-many-requests": 60,
};

export function toProblemDetails(refusal: Refusal, requestId: string): ProblemDetails {
  const { code, detail, errors, knownTypes, neededRole } = refusal;
  const { status, title, remedy } = PROBLEMS[code];
  const retryAfterS = refusal.retryAfterS ?? RETRY_AFTER_S[code];
  const known = { type: problemType(code), title, status, detail: detail ?? title, code, remedy, requestId };
  return {
    ...known,
    ...(errors && { errors }),
    ...(knownTypes && { knownTypes }),
    ...(neededRole && { neededRole }),
    ...(retryAfterS !== undefined && { retryAfterS }),
  };
}

export function sendProblem(response: Response, refusal: Refusal, requestId: string): void {
  const problem = toProblemDetails(refusal, requestId);
  if (problem.retryAfterS !== undefined) response.setHeader("Retry-After", String(problem.retryAfterS));
  if (problem.code === "unauthorized") response.setHeader("WWW-Authenticate", challengeOf(refusal));
  response.status(problem.status).type("application/problem+json").send(JSON.stringify(problem));
}
