import type { z } from "zod";
import type { Access } from "../rest/access.ts";
import type { ProblemCode } from "../rest/problems.ts";

/** What a call takes and answers. Its method and path stand under the same name in CALL_PLACES. */
export interface Call {
  /** Who may make the call: the lowest role, or `open` for everybody. */
  access: Access;
  /** Each parameter has a description (`.describe(…)`). Without it the call takes none. */
  query?: z.ZodObject;
  /** Request headers that mean something to this call. */
  headers?: z.ZodObject;
  body?: z.ZodType;
  /** Default MAX_REQUEST_BODY_BYTES. */
  bodyLimitBytes?: number;
  /** The answers by status; null means no body. */
  answers: Readonly<Record<number, z.ZodType | null>>;
  /** By status, the answer to `Prefer: return=minimal` (RFC 7240) instead. Its keys are a part of the full answer's. */
  minimal?: Readonly<Record<number, z.ZodType>>;
  /**
   * Problems of this call, beside those of every call (COMMON_PROBLEMS) and those of the gate (GATE_PROBLEMS), which every call
   * has that is not open.
   */
  problems: readonly ProblemCode[];
  /** For a call on many: problems that a single item can have within the answer 200. */
  itemProblems?: readonly ProblemCode[];
  /** For server-sent events: what each kind carries. If the answer 200 is JSON, these are its alternative. */
  events?: Readonly<Record<string, z.ZodType>>;
}

/** Problems that any call can meet. */
export const COMMON_PROBLEMS: ProblemCode[] = [
  "malformed-request",
  "invalid-query",
  "wrong-host",
  "internal-error",
  "database-unavailable",
];

/** Problems of every call that takes a body. `not-ready` is one: a long body may have waited in vain for others. */
export const BODY_PROBLEMS: ProblemCode[] = [
  "malformed-json",
  "body-too-large",
  "unsupported-media-type",
  "invalid-body",
  "not-ready",
];

/** Problems of every call that asks who its caller is. */
export const GATE_PROBLEMS: ProblemCode[] = [
  "unauthorized",
  "forbidden",
  "too-many-requests",
  "identity-provider-unavailable",
];
