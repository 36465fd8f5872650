import { z } from "zod";
import { timestamp } from "../bounds.ts";
import { SessionView, SignIn } from "../rest/access.ts";
import { AuditedAction, AuditedKind, AuditPage } from "../rest/audit.ts";
import { BODY_PROBLEMS, type Call, GATE_PROBLEMS } from "./call.ts";
import { pageCursor, pageLimit } from "./query-fields.ts";

const textUpTo = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine((given) => !given.includes("\0"), "the character NUL is not allowed");

/** Nobody knows yet who sends it: it is short, and takes no room from the bodies of others. A cookie holds 4 KiB at most. */
const MAX_SIGN_IN_BODY_BYTES = 16_384;

/** Who one is, and who did what. */
export const ACCESS_CALLS = {
  getSession: { access: "viewer", answers: { 200: SessionView }, problems: [] },
  signIn: {
    access: "open",
    body: SignIn,
    bodyLimitBytes: MAX_SIGN_IN_BODY_BYTES,
    answers: { 200: SessionView },
    problems: [...BODY_PROBLEMS, ...GATE_PROBLEMS, "cross-origin"],
  },
  signOut: { access: "open", answers: { 204: null }, problems: ["cross-origin"] },
  listAudit: {
    access: "admin",
    query: z.strictObject({
      actor: textUpTo(128).optional().describe("the name of who did it"),
      action: AuditedAction.optional().describe("what was done"),
      deed: AuditedAction.optional().describe("the same as action, by its name of 0.1.0").meta({ deprecated: true }),
      observer: z.string().max(128).optional().describe("name or id, among those that the entry names"),
      target: textUpTo(255).optional().describe("id or name of what it was done to, among those that the entry names"),
      targetKind: AuditedKind.optional().describe("of which kind that `target` is"),
      // For acts of a schedule it holds the schedule's id behind a word.
      requestId: textUpTo(160).optional().describe("the X-Request-Id of the call"),
      since: timestamp.optional().describe("from then on (ISO 8601)"),
      until: timestamp.optional().describe("before then (ISO 8601)"),
      limit: pageLimit,
      cursor: pageCursor,
    }),
    answers: { 200: AuditPage },
    problems: [],
  },
} as const satisfies Record<string, Call>;
