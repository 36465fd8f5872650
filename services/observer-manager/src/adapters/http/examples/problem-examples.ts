import type { ProblemCode, ProblemDetails } from "@unacked/contracts";
import type { Refusal } from "../../../flows/manager-api.ts";
import { toProblemDetails } from "../http-problem.ts";

const REQUEST_ID = "5f0c8f5e-9d0b-4a3e-8a57-3c1c7b1f2d90";

/** What a problem says about the very case. One that is not here is shown with the catalogue's own words: nothing to do for it. */
const CASES: Partial<Record<ProblemCode, Omit<Refusal, "kind" | "code">>> = {
  "malformed-json": { detail: "The body is empty" },
  "invalid-query": { errors: [{ parameter: "colour", message: "not known here" }] },
  "method-not-allowed": { detail: "PUT is not one of POST, GET, HEAD" },
  "invalid-body": {
    errors: [
      { pointer: "/params/everyMs", message: "must be >= 100" },
      { pointer: "/colour", message: "not known here" },
    ],
  },
  unauthorized: { detail: "The token is not known" },
  forbidden: { detail: "It needs the role operator, and anna is viewer", neededRole: "operator" },
  "unknown-type": { knownTypes: ["http-poll", "ticker"] },
};

/** A problem of the catalogue as it is answered. */
export const problemExample = (code: ProblemCode): ProblemDetails =>
  toProblemDetails({ kind: "problem", code, ...CASES[code] }, REQUEST_ID);
