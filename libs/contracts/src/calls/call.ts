import type { z } from "zod";
import type { Access } from "../rest/access.ts";
import type { ProblemCode } from "../rest/problems.ts";

/** What a call takes and answers. Where it is stands under the same name in CALL_PLACES. */
export interface Call {
  /** Who may: the lowest role, or `open` for everybody. */
  access: Access;
  /** Each parameter with a description (`.describe(…)`). A call without takes none. */
  query?: z.ZodObject;
  /** Request headers that mean something to this call. */
  headers?: z.ZodObject;
  body?: z.ZodType;
  /** Default MAX_REQUEST_BODY_BYTES. */
  bodyLimitBytes?: number;
  /** By status; null: no body. */
  answers: Readonly<Record<number, z.ZodType | null>>;
  /** By status, what is answered in its place to `Prefer: return=minimal` (RFC 7240). Its keys are a part of the other's. */
  minimal?: Readonly<Record<number, z.ZodType>>;
  /** Beside those of every call (COMMON_PROBLEMS) and those of the gate (GATE_PROBLEMS), which every call has that is not open. */
  problems: readonly ProblemCode[];
  /** Of a call for many: what stands with a single one within the answer 200. */
  itemProblems?: readonly ProblemCode[];
  /** Of server-sent events: what each kind carries. Where the answer 200 is JSON, that is what it can be instead. */
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

/** Problems of every call that takes a body. `not-ready`, too: a long one has waited in vain for others. */
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
