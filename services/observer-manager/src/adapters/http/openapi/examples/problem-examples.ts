import type { ProblemCode, ProblemDetails } from "@unacked/contracts";
import { toProblemDetails } from "../../../../operations/problem-details.ts";
import type { Refusal } from "../../../../operations/refusal.ts";

const REQUEST_ID = "5f0c8f5e-9d0b-4a3e-8a57-3c1c7b1f2d90";

/** Texts of problems about a particular case. A problem that is missing here is shown with the catalogue's own words. */
const CASES: Partial<Record<ProblemCode, Omit<Refusal, "kind" | "code">>> = {
  "malformed-json": { detail: 'line 3, column 1: expected a name in double quotes, found "}"' },
  "invalid-query": { errors: [{ parameter: "colour", message: "there is no such parameter" }] },
  "method-not-allowed": { detail: "PUT is not one of POST, GET, HEAD" },
  "invalid-id": { detail: "A timer's id is a UUID" },
  "invalid-body": {
    errors: [
      { pointer: "/params/everyMs", message: "must be >= 100" },
      { pointer: "/colour", message: "there is no such field" },
    ],
  },
  unauthorized: { detail: "The token is not known" },
  forbidden: { detail: "It needs the role operator, and anna is viewer", neededRole: "operator" },
  "unknown-type": {
    detail: 'No living service of the pool "default" knows the type "orders"; known in pool mine: send pool "mine"',
    knownTypes: ["http-poll", "ticker"],
    knownPools: ["mine"],
  },
  "pool-not-served": {
    detail: 'No living service works in the pool "defualt"; pools that are served: default, mine',
    knownPools: ["default", "mine"],
  },
  "no-free-worker": { detail: 'No service of the pool "default" that knows the type "ticker" has a free worker' },
};

/** A problem of the catalogue as it is answered. */
export const problemExample = (code: ProblemCode): ProblemDetails =>
  toProblemDetails({ kind: "problem", code, ...CASES[code] }, REQUEST_ID);
