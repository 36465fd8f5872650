import { z } from "zod";
import { SPEC_FIELD_NAMES } from "../observer-spec.ts";
import { Role } from "./access.ts";
import { PROBLEMS, type ProblemCode } from "./problems.ts";

/** One wrong field of a body (`pointer`, RFC 6901; "" is the whole body) or of a query (`parameter`). */
export const FieldProblem = z
  .object({ pointer: z.string().optional(), parameter: z.string().optional(), message: z.string() })
  .meta({ id: "FieldProblem" });
export type FieldProblem = z.infer<typeof FieldProblem>;

const PROBLEM_CODES = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

/** RFC 9457, sent as `application/problem+json`. `code` is stable; texts are for people and may change. */
export const ProblemDetails = z
  .object({
    type: z.string().describe("urn:unacked:problem:<code>"),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(PROBLEM_CODES),
    remedy: z.string().describe("what to do about it"),
    requestId: z.string().describe("the same as the X-Request-Id header and in the manager's log"),
    errors: z.array(FieldProblem).optional(),
    knownTypes: z.array(z.string()).optional().describe("with unknown-type: what live services of the pool know"),
    knownPools: z
      .array(z.string())
      .optional()
      .describe("with pool-not-served: the pools of live services; with unknown-type: those that know the type, if any"),
    specVersion: z.int().optional().describe("with spec-changed: of the observer as it is"),
    differs: z
      .array(z.object({ field: z.enum(SPEC_FIELD_NAMES), now: z.unknown(), given: z.unknown() }))
      .optional()
      .describe("with spec-changed: what is otherwise than given"),
    taskId: z.guid().optional().describe("with key-taken: of the task that has the key"),
    neededRole: Role.optional().describe("with forbidden: what would be enough"),
    retryAfterS: z.int().optional().describe("the same as the Retry-After header"),
  })
  .meta({ id: "Problem" });
export type ProblemDetails = z.infer<typeof ProblemDetails>;

export const problemType = (code: ProblemCode): string => `urn:unacked:problem:${code}`;
