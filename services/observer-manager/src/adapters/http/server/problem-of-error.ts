import type { ProblemCode } from "@unacked/contracts";
import type { Response } from "express";
import { toProblemDetails } from "../../../operations/problem-details.ts";
import type { Refusal } from "../../../operations/refusal.ts";
import { HttpProblem } from "../api/http-problem.ts";
import { sendJson } from "./json-body.ts";

/** Says what an error means and what of it may be logged. The part that knows the database's errors provides it. */
export type DescribeError = (error: unknown) => { unavailable: boolean; detail?: string; fields: object };

/** The `type`s of errors that body-parser and raw-body throw (their README lists them). */
const BODY_ERRORS: Record<string, ProblemCode> = {
  "entity.too.large": "body-too-large",
  "encoding.unsupported": "unsupported-media-type",
  "request.aborted": "malformed-request",
  "request.size.invalid": "malformed-request",
};

/** The answer to whatever was thrown on the way. It reveals nothing of an unknown error. */
export function problemOfError(error: unknown, describeError: DescribeError): Refusal {
  if (error instanceof HttpProblem) return error.refusal;
  const { type, status } = (typeof error === "object" && error !== null ? error : {}) as {
    type?: unknown;
    status?: unknown;
  };
  const bodyProblem = typeof type === "string" ? BODY_ERRORS[type] : undefined;
  if (bodyProblem !== undefined) return { kind: "problem", code: bodyProblem };
  if (error instanceof URIError || status === 400) return { kind: "problem", code: "malformed-request" };
  if (status === 404 || status === 403) return { kind: "problem", code: "not-found" }; // an error of the static files
  const { unavailable, detail } = describeError(error);
  if (unavailable) return { kind: "problem", code: "database-unavailable", ...(detail && { detail }) };
  return { kind: "problem", code: "internal-error" };
}

/** RFC 6750, 3: it names an error if a token was sent, and none if there was no token. */
const challengeOf = ({ detail }: Refusal): string =>
  `Bearer realm="unacked"${detail === undefined ? "" : ', error="invalid_token"'}`;

export function sendProblem(response: Response, refusal: Refusal, requestId: string): void {
  const problem = toProblemDetails(refusal, requestId);
  if (problem.retryAfterS !== undefined) response.setHeader("Retry-After", String(problem.retryAfterS));
  if (problem.code === "unauthorized") response.setHeader("WWW-Authenticate", challengeOf(refusal));
  sendJson(response, problem.status, problem, "application/problem+json");
}
