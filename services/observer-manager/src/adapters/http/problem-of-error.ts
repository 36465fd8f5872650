import type { ProblemCode } from "@unacked/contracts";
import type { Refusal } from "../../flows/manager-api.ts";
import { HttpProblem } from "./http-problem.ts";

/** What an error means and what of it may be logged; given by whoever knows the database's errors. */
export type DescribeError = (error: unknown) => { unavailable: boolean; fields: object };

/** The `type`s of errors that body-parser and raw-body throw (their README lists them). */
const BODY_ERRORS: Record<string, ProblemCode> = {
  "entity.parse.failed": "malformed-json",
  "entity.too.large": "body-too-large",
  "encoding.unsupported": "unsupported-media-type",
  "charset.unsupported": "unsupported-media-type",
  "request.aborted": "malformed-request",
  "request.size.invalid": "malformed-request",
};

/** The answer to whatever was thrown on the way. Says nothing of an error that it does not know. */
export function problemOfError(error: unknown, describeError: DescribeError): Refusal {
  if (error instanceof HttpProblem) return error.refusal;
  const { type, status } = (typeof error === "object" && error !== null ? error : {}) as {
    type?: unknown;
    status?: unknown;
  };
  const bodyProblem = typeof type === "string" ? BODY_ERRORS[type] : undefined;
  if (bodyProblem !== undefined) return { kind: "problem", code: bodyProblem };
  if (error instanceof URIError || status === 400) return { kind: "problem", code: "malformed-request" };
  if (status === 404 || status === 403) return { kind: "problem", code: "not-found" }; // of the static files
  if (describeError(error).unavailable) return { kind: "problem", code: "database-unavailable" };
  return { kind: "problem", code: "internal-error" };
}
