import type { RouteConfig } from "@asteasolutions/zod-to-openapi";
import { PROBLEMS, type ProblemCode, ProblemDetails } from "@unacked/contracts";

export const REQUEST_ID_HEADER = {
  description: "the request's id in the manager's log: your own, if you sent one that fits into a log, else a new one",
  required: true,
  schema: { type: "string", pattern: "^[A-Za-z0-9._:-]{1,128}$" },
  example: "5f0c8f5e-9d0b-4a3e-8a57-3c1c7b1f2d90",
} as const;

export const RETRY_AFTER_HEADER = {
  description: "after how many seconds to try again",
  required: true,
  schema: { type: "integer", minimum: 1 },
  example: 5,
} as const;

/** One answer a status: its codes with their meanings and remedies, and an example of each. */
export function problemAnswers(codes: readonly ProblemCode[]): RouteConfig["responses"] {
  const all = [...new Set(codes)];
  const statuses = [...new Set(all.map((code) => PROBLEMS[code].status))];
  const ofStatus = (status: number) => all.filter((code) => PROBLEMS[code].status === status);
  return Object.fromEntries(statuses.map((status) => [String(status), answerOf(status, ofStatus(status))]));
}

function answerOf(status: number, codes: ProblemCode[]) {
  const retryAfter = (status === 503 || status === 429) && { "Retry-After": { $ref: "#/components/headers/RetryAfter" } };
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  return {
    description: inWords(codes),
    headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" }, ...retryAfter },
    content: { "application/problem+json": { schema: ProblemDetails, examples } },
  };
}

export const inWords = (codes: readonly ProblemCode[]): string =>
  codes.map((code) => `- \`${code}\`: ${PROBLEMS[code].title}. ${PROBLEMS[code].remedy}`).join("\n");
