import type { FieldProblem, ProblemCode, ProblemDetails, Role } from "@unacked/contracts";

/** A request that was understood and is not done. Title, status and remedy come from the catalogue (PROBLEMS). */
export interface Refusal {
  kind: "problem";
  code: ProblemCode;
  /** One sentence about this very case; the catalogue's title when absent. */
  detail?: string;
  errors?: FieldProblem[];
  knownTypes?: string[];
  knownPools?: string[];
  /** Of `spec-changed`. */
  specVersion?: number;
  differs?: ProblemDetails["differs"];
  /** Of `key-taken`: who has it. */
  taskId?: string;
  /** Of `forbidden`: what would be enough. */
  neededRole?: Role;
  /** Sent as Retry-After, in s. Problems of status 503 have a default. */
  retryAfterS?: number;
}
