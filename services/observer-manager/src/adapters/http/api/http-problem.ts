import { PROBLEMS, type ProblemCode } from "@unacked/contracts";
import type { Refusal } from "../../../operations/refusal.ts";

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
