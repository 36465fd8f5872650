import type { FieldProblem, ProblemCode, ProblemDetails, Role } from "@unacked/contracts";

/** A request that was understood and is not done. Title and status come from the catalogue (PROBLEMS). */
export interface Refusal {
  kind: "problem";
  code: ProblemCode;
  /** One sentence about this very case; the catalogue's title when absent. */
  detail?: string;
  /** What is to be done in this very case; the catalogue's remedy when absent. */
  remedy?: string;
  errors?: FieldProblem[];
  knownTypes?: string[];
  knownPools?: string[];
  /** Only `spec-changed` has it. */
  specVersion?: number;
  differs?: ProblemDetails["differs"];
  /** Only `key-taken` has it: who has the key. */
  taskId?: string;
  /** Only `forbidden` has it: the role that would be enough. */
  neededRole?: Role;
  /** Sent as Retry-After, in s. Problems of status 503 have a default. */
  retryAfterS?: number;
}
