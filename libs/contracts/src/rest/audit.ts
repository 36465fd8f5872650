import { z } from "zod";
import { AUTHENTICATIONS, Role } from "./access.ts";
import { ADDED_LATER } from "./added-later.ts";
import { AUDITED_ACTIONS, AUDITED_KINDS } from "./audited-actions.ts";

export const AuditedAction = z.enum(AUDITED_ACTIONS);
export type AuditedAction = z.infer<typeof AuditedAction>;

export const AuditedKind = z.enum(AUDITED_KINDS);
export type AuditedKind = z.infer<typeof AuditedKind>;

/** How many targets of a bulk action are named. */
export const MAX_AUDITED_TARGETS = 10;

export const AuditedTarget = z.object({
  kind: AuditedKind,
  id: z.string(),
  name: z.string().nullable().describe("as it was then; null: it has none"),
});
export type AuditedTarget = z.infer<typeof AuditedTarget>;

/** One call that changed something, stored in the very transaction of the change. */
export const AuditEntry = z
  .object({
    id: z.uuid(),
    at: z.iso.datetime().describe("when its transaction began: it may be seen after later ones"),
    actor: z.object({
      name: z.string(),
      role: Role,
      authentication: z
        .enum([...AUTHENTICATIONS, "broker", "database", "schedule"])
        .describe(
          "`broker`: the service of that name, whose message made the manager act, or a user of the broker who asked over AMQP · `database`: a role of PostgreSQL, by unacked_create_task · `schedule`: the schedule of that name, which pauses and resumes observers",
        ),
      address: z.string().describe("where the call came from; of a service, its id; `unacked.requests`: over AMQP"),
    }),
    action: AuditedAction.describe("what was done").register(ADDED_LATER, { of: "deed" }),
    deed: AuditedAction.describe("the same as action, by its name of 0.1.0").meta({ deprecated: true }),
    count: z.int().describe("how many it changed"),
    targets: z.array(AuditedTarget).describe(`the first ${MAX_AUDITED_TARGETS} of them`),
    details: z.record(z.string(), z.unknown()).describe("what else was asked: the filter, force"),
    requestId: z.string().describe("the same as the call's X-Request-Id; of a service, or over AMQP, its message's id"),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

/** How far the entries of a filter are counted: a busy month has tens of millions. */
export const MAX_AUDIT_COUNT = 10_000;

/** GET /audit. The newest first. */
export const AuditPage = z
  .object({
    items: z.array(AuditEntry),
    total: z.int().describe(`all that match the filter, not only this page; counted up to ${MAX_AUDIT_COUNT}`),
    isTotalExact: z.boolean().describe("false: there are more than `total`").register(ADDED_LATER, { means: true }),
    nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
  })
  .meta({ id: "AuditPage" });
export type AuditPage = z.infer<typeof AuditPage>;
